#include "findings/words/library.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace emu {
namespace {

enum class Origin : std::uint8_t {
    plain,   ///< Ordinary code: it shows nothing of how its threads synchronise or copy.
    reader,  ///< An instruction that the reader wrote, perhaps with a wrapper of its name.
    library, ///< One out of a header of the library.
};

Origin origin_of(const Kernel& kernel, std::uint32_t pc) {
    if (pc >= kernel.sources.size())
        return Origin::plain;
    const ptx::Instruction& i = *kernel.sources[pc];
    constexpr std::array opcodes{"mbarrier", "cp", "fence"};
    if (std::ranges::find(opcodes, i.opcode) == opcodes.end())
        return Origin::plain;
    for (const char* const header : {"/cuda/pipeline", "/cuda/barrier", "/__barrier/barrier_block_scope.h",
                                     "/__barrier/barrier.h", "/__memcpy_async/memcpy_async_barrier.h",
                                     "/__memcpy_async/memcpy_async.h", "/cooperative_groups/memcpy_async.h",
                                     "/cooperative_groups/details/async.h", "/cuda_pipeline_primitives.h"})
        if (is_inlined_from(kernel, pc, header))
            return Origin::library;
    return Origin::reader;
}

/// Longer ones first: each is looked for in what the ones before it left.
constexpr std::pair<std::string_view, std::string_view> names_in_library[] = {
    {" (cp.async.wait_group in PTX)", ""},
    {" (mbarrier.arrive_drop)", "()"},
    {"the count given to mbarrier.init", "the count that it was made with (init, make_pipeline)"},
    {"number of arrivals to mbarrier.init", "number of arrivals to init()"},
    {"give mbarrier.init as many arrivals", "give init() as many arrivals"},
    {"Give mbarrier.init ", "Give init() "},
    {"mbarrier.arrive.expect_tx (barrier_arrive_tx)", "cuda::device::barrier_arrive_tx"},
    {"mbarrier.arrive.expect_tx", "cuda::device::barrier_arrive_tx"},
    {"arrive.expect_tx", "cuda::device::barrier_arrive_tx"},
    {"expect_tx announced", "cuda::device::barrier_arrive_tx (or barrier_expect_tx) announced"},
    {"expect_tx must", "cuda::device::barrier_arrive_tx (or barrier_expect_tx) must"},
    {"expect_tx is no arrival", "cuda::device::barrier_expect_tx is no arrival"},
    {" (mbarrier.inval; the destructor of cuda::barrier)", " (the destructor of cuda::barrier)"},
    {" (mbarrier.inval)", ""},
    {"mbarrier.inval, or the destructor of a cuda::barrier,", "The destructor of a cuda::barrier"},
    {"mbarrier.init", "init()"},
    {"mbarrier.arrive", "arrive()"},
    {"a cp.async ", "an asynchronous copy "},
    {"cp.async issued", "asynchronous copy issued"},
    {"its cp.async ", "its asynchronous copy "},
    {"mbarrier", "barrier"},
};

/// The C interface has a call for each instruction: both are named, for the chapters and PTX speak of the
/// instruction.
constexpr std::pair<std::string_view, std::string_view> names_of_primitives[] = {
    {"cp.async.commit_group", "__pipeline_commit() (cp.async.commit_group)"},
    {"cp.async.wait_all", "__pipeline_commit() and __pipeline_wait_prior(0) (cp.async.wait_all)"},
    {"cp.async.wait_group 0", "__pipeline_wait_prior(0) (cp.async.wait_group 0)"},
};

/// Out of cuda_pipeline_primitives.h, and not by way of another library that is made of it.
bool is_of_primitives(const Kernel& kernel, std::uint32_t pc) {
    return is_inlined_from(kernel, pc, "/cuda_pipeline_primitives.h") &&
           !is_inlined_from(kernel, pc, "/cuda/pipeline") &&
           !is_inlined_from(kernel, pc, "/cooperative_groups/memcpy_async.h") &&
           !is_inlined_from(kernel, pc, "/cooperative_groups/details/async.h");
}

/// The name of an instruction goes on, "mbarrier.test_wait": it is none that the table knows.
bool goes_on(const std::string& text, std::size_t end) {
    return end + 1 < text.size() && text[end] == '.' && text[end + 1] >= 'a' && text[end + 1] <= 'z';
}

using Names = std::span<const std::pair<std::string_view, std::string_view>>;

void rename(std::string& text, Names names) {
    for (const auto& [name, other] : names)
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
            if (goes_on(text, at + name.size())) {
                at += name.size();
            } else {
                text.replace(at, name.size(), other);
                at += other.size();
            }
}

} // namespace

void use_names_of_library(Diagnostic& diagnostic, const Kernel& kernel) {
    bool library = false;
    bool primitives = true;
    for (const SourceLine& each : diagnostic.locations)
        switch (origin_of(kernel, each.pc)) {
        case Origin::reader:
            return;
        case Origin::library:
            library = true;
            primitives &= is_of_primitives(kernel, each.pc);
            break;
        case Origin::plain:
            break;
        }
    if (!library)
        return;
    rename(diagnostic.message, names_in_library);
    rename(diagnostic.advice, names_in_library);
    for (SourceLine& each : diagnostic.locations)
        rename(each.role, names_in_library);
    if (primitives)
        rename(diagnostic.advice, names_of_primitives);
}

} // namespace emu
