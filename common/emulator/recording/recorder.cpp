/// \file
/// Writes launches to a file, each when it begins and when it has ended.

#include "findings/lines.hpp"
#include "findings/report.hpp"
#include "findings/source_text.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "recording/capsule_launch.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

namespace emu {
namespace {

using capsule::Record;
using capsule::Writer;

/// The PTX with files below the working directory named relative to it: a capsule says nothing about the
/// machine that it does not need.
std::string with_readable_files(const std::string& text) {
    constexpr std::string_view directive = ".file";
    std::string result;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = text.find(directive, at)) != std::string::npos; at += directive.size()) {
        const std::size_t line_end = std::min(text.find('\n', at), text.size());
        const std::size_t open = text.find('"', at), close = text.find('"', open + 1);
        const bool begins_line = at == 0 || text[at - 1] == '\n' || text[at - 1] == '\t';
        if (!begins_line || close >= line_end)
            continue;
        result.append(text, done, open + 1 - done);
        result += readable_path(text.substr(open + 1, close - open - 1));
        done = close;
    }
    return result.append(text, done);
}

/// What the kernel is called: by its number, or by any of its names.
bool is_named(const std::string& only, const LaunchInfo& info) {
    const std::string& full = info.kernel->name;
    const std::string plain = full.substr(0, full.find_first_of("<("));
    const std::size_t space = plain.rfind(' ');
    const std::string last = plain.substr(space == std::string::npos ? 0 : space + 1);
    std::istringstream words(only);
    for (std::string word; std::getline(words, word, ',');)
        if (word == std::to_string(info.serial) || word == full || word == last ||
            word == info.kernel->source().name || last.ends_with("::" + word))
            return true;
    return false;
}

class Recorder final : public Observer {
  public:
    Recorder(RecordSettings what, Settings settings)
        : what_(std::move(what)), settings_(std::move(settings)),
          out_(what_.file, std::ios::binary | std::ios::trunc) {
        Writer head;
        head.plain(std::as_bytes(std::span(capsule::magic)));
        head.fixed(capsule::format, 4);
        put(head.bytes());
        flush();
    }

    void on_launch_begin(const LaunchInfo& info) override {
        note_begin(info.serial);
        if (!what_.only.empty() && !is_named(what_.only, info))
            return;
        const GlobalMemory& memory = info.kernel->program->memory();
        auto image = memory.image(capsule_memory);
        const std::lock_guard lock(mutex_);
        if (!image) {
            std::fprintf(stderr,
                         "emulator: launch %llu of %s is not recorded: the program has more than %llu MiB of "
                         "memory\n",
                         static_cast<unsigned long long>(info.serial), info.kernel->name.c_str(),
                         static_cast<unsigned long long>(capsule_memory >> 20));
            return;
        }
        begin(info, std::move(*image));
    }

    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        const std::lock_guard lock(mutex_);
        if (const auto found = running_.find(cluster.info().serial); found != running_.end())
            found->second.launch = &cluster.launch();
        return nullptr;
    }

    void on_launch_end(const LaunchInfo& info) override {
        const std::lock_guard lock(mutex_);
        under_way_.erase(info.serial);
        const auto ended = running_.extract(info.serial);
        if (ended.empty())
            return;
        const Running& running = ended.mapped();
        const GlobalMemory& memory = info.kernel->program->memory();
        Writer out;
        out.number(info.serial);
        out.flag(running.launch && !running.launch->has_company() && !running.beside);
        out.number(running.pieces.size());
        for (const Allocation& each : running.pieces) {
            // Freed while the kernel ran: nothing is known of it.
            const auto there = memory.find(each.base);
            const std::uint64_t digest =
                there && there->serial == each.serial
                    ? memory_digest({memory.bytes(each.base), static_cast<std::size_t>(each.size)})
                    : 0;
            out.fixed(digest, 8);
        }
        record(Record::end, out);
        flush();
    }

  private:
    /// A launch under way.
    struct Running {
        const Launch* launch = nullptr; ///< Once it has a cluster.
        std::vector<Allocation> pieces; ///< The live ones of its memory.
        bool beside = false;            ///< Another launch was under way with it.
    };

    void note_begin(std::uint64_t serial) {
        const std::lock_guard lock(mutex_);
        for (auto& [other, running] : running_)
            running.beside = true;
        under_way_.insert(serial);
    }

    void begin(const LaunchInfo& info, MemoryImage image) {
        CapsuleLaunch launch;
        launch.module = module_of(*info.kernel);
        launch.kernel = info.kernel->source().name;
        launch.name = info.kernel->name;
        launch.config = info.config;
        launch.settings = settings_;
        launch.serial = info.serial;
        const GlobalMemory& memory = info.kernel->program->memory();
        const std::byte* const parameters = memory.bytes(info.parameters);
        launch.parameters.assign(parameters, parameters + info.kernel->parameter_bytes);
        for (const Address each : {info.parameters, info.grid_workspace})
            if (each)
                launch.awaited.push_back(each);
        for (std::uint32_t i = 0; i < info.kernel->program->module().variables.size(); ++i)
            if (const Address each = info.kernel->program->variable_address(i))
                launch.awaited.push_back(each);
        Running& running = running_[info.serial];
        running.beside = under_way_.size() > 1;
        for (const MemoryImage::Piece& piece : image.pieces)
            if (!piece.freed)
                running.pieces.push_back(piece.allocation);
        launch.memory = std::move(image);
        tell_sources(*info.kernel);
        Writer out;
        capsule::write_launch(out, launch, [this](auto bytes) { return number_of(bytes); });
        record(Record::launch, out);
        flush();
    }

    std::size_t module_of(const Kernel& kernel) {
        const std::string& text = *kernel.program->module().text;
        const auto [found, fresh] =
            modules_.emplace(memory_digest(std::as_bytes(std::span(text))), modules_.size());
        if (fresh) {
            Writer out;
            out.text(with_readable_files(text));
            record(Record::module, out);
        }
        return found->second;
    }

    /// Bytes that are in the file already are not written again.
    std::uint64_t number_of(std::span<const std::byte> bytes) {
        const auto [found, fresh] =
            bytes_.emplace(std::pair(bytes.size(), memory_digest(bytes)), bytes_.size());
        if (fresh) {
            Writer out;
            out.runs(bytes);
            record(Record::bytes, out);
        }
        return found->second;
    }

    void tell_sources(const Kernel& kernel) {
        const ptx::Module& module = kernel.program->module();
        for (const std::string& path : module.files)
            if (!path.empty() && !ptx::is_toolkit_file(path) && sources_.insert(path).second) {
                std::ifstream in(path, std::ios::binary);
                std::stringstream text;
                text << in.rdbuf();
                if (!in)
                    continue;
                Writer out;
                out.text(readable_path(path));
                out.text(text.str());
                record(Record::source, out);
            }
    }

    void record(Record which, const Writer& writer) {
        const auto bytes = writer.bytes();
        Writer head;
        head.fixed(static_cast<std::uint64_t>(which), 1);
        head.fixed(bytes.size(), 8);
        head.fixed(memory_digest(bytes), 8);
        put(head.bytes());
        put(bytes);
    }
    void put(std::span<const std::byte> bytes) {
        out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    void flush() {
        if (!out_.flush())
            lose_output(Output::recording, what_.file);
    }

    const RecordSettings what_;
    const Settings settings_;
    std::mutex mutex_;
    std::ofstream out_;
    std::set<std::uint64_t> under_way_;            ///< Serial numbers of all launches, recorded or not.
    std::map<std::uint64_t, Running> running_;     ///< By serial number.
    std::map<std::uint64_t, std::size_t> modules_; ///< Their numbers in the file, by digest.
    std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> bytes_; ///< By size and digest.
    std::set<std::string> sources_;
};

} // namespace

std::unique_ptr<Observer> make_recorder(const RecordSettings& what, const Settings& settings) {
    return std::make_unique<Recorder>(what, settings);
}

} // namespace emu
