/// \file
/// From an instruction to the reader's lines: its own, and those of the calls that lead to it.

#include "findings/lines.hpp"
#include "ptx/parser.hpp"

#include <filesystem>
#include <span>

namespace emu {
namespace {

/// Lines of the reader's own files, innermost first.
class Lines {
  public:
    explicit Lines(const ptx::Module& module) : module_(module) {}

    /// The chain of inlined calls of an instruction. False if it ends where only a guess goes on.
    bool add_chain(std::uint32_t location) {
        bool guessed = false;
        for (std::uint32_t at = location; at != 0 && at < module_.locations.size();
             at = module_.locations[at].inlined_at) {
            const ptx::Location& where = module_.locations[at];
            add(where);
            if (guessed && !lines_.empty())
                return false;
            guessed |= where.guessed;
        }
        return true;
    }
    const std::vector<CallSite>& all() const { return lines_; }

  private:
    void add(const ptx::Location& where) {
        if (where.line == 0 || where.file >= module_.files.size() || module_.files[where.file].empty() ||
            ptx::is_toolkit_file(module_.files[where.file]))
            return;
        CallSite line{readable_path(module_.files[where.file]), where.line};
        if (lines_.empty() || lines_.back() != line)
            lines_.push_back(std::move(line));
    }

    const ptx::Module& module_;
    std::vector<CallSite> lines_;
};

/// The calls that lead to a function of the kernel, innermost first, as far as there is one way only.
std::vector<std::uint32_t> only_calls(const Kernel& kernel, std::uint32_t function) {
    std::vector<std::uint32_t> calls;
    while (calls.size() < kernel.functions.size() && kernel.only_calls[function]) {
        calls.push_back(*kernel.only_calls[function]);
        function = kernel.function_of[calls.back()];
    }
    return calls;
}

} // namespace

std::string readable_path(const std::string& path) {
    std::error_code error;
    const auto normal = std::filesystem::path(path).lexically_normal();
    const auto here = std::filesystem::current_path(error);
    if (error || here.empty()) // A page has no working directory.
        return normal.string();
    const auto relative = normal.lexically_relative(here);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return (below ? relative : normal).string();
}

SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::span<const std::uint32_t> calls,
                       std::string role) {
    const ptx::Module& module = kernel.program->module();
    Lines lines(module);
    bool known = lines.add_chain(kernel.sources[pc]->location);
    for (std::size_t i = 0; known && i < calls.size(); ++i)
        known = lines.add_chain(kernel.sources[calls[i]]->location);
    SourceLine result{{}, 0, std::move(role)};
    result.pc = pc;
    const std::uint32_t outermost = kernel.function_of[calls.empty() ? pc : calls.back()];
    result.more_callers = !known || outermost != 0;
    if (!lines.all().empty()) {
        result.file = lines.all().front().file;
        result.line = lines.all().front().line;
        result.callers.assign(lines.all().begin() + 1, lines.all().end());
        return result;
    }
    const ptx::Instruction& instruction = *kernel.sources[pc];
    const ptx::Location& where = module.reader_location(instruction.location);
    result.file = where.line ? readable_path(module.files[where.file]) : "PTX";
    result.line = where.line ? where.line : ptx::position_of(module, instruction.text_offset).line;
    return result;
}

SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role) {
    return source_line(kernel, pc, only_calls(kernel, kernel.function_of[pc]), std::move(role));
}

SourceLine source_line(const Cluster& cluster, std::uint32_t pc, std::string role) {
    return source_line(*cluster.info().kernel, pc, std::move(role));
}

SourceLine source_line(const Warp& warp, unsigned lane, std::uint32_t pc, std::string role) {
    const Kernel& kernel = *warp.cluster().info().kernel;
    if (const auto calls = warp.calls_to(lane, pc))
        return source_line(kernel, pc, *calls, std::move(role));
    return source_line(kernel, pc, std::move(role));
}

} // namespace emu
