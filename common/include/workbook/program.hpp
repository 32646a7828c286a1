/// @file program.hpp
/// The frame of a chapter's program: runs its kernels, checks each, measures where there is a clock, reports.
///
/// A chapter describes its data (a struct made from a RunContext) and lists its kernels (KernelEntry); main
/// is then one call of run_program.
#pragma once

#include "check.hpp"
#include "cli.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "matrix.hpp"
#include "owned.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace workbook {

/// What is known when a program starts to work.
struct RunContext {
    std::size_t size = 0;
    std::uint64_t seed = 0;
    DeviceFacts device;
    bool has_clock = false;
};

/// One kernel of a chapter. All functions get the chapter's data.
template <class Data>
struct KernelEntry {
    const char* name;
    const char* shows;                 ///< what the kernel is there to show, a few words
    std::size_t (*bytes)(const Data&); ///< bytes read from plus written to global memory; 0: not a transfer
    void (*prepare)(Data&);            ///< restores inputs and poisons outputs, before the checked launch
    void (*launch)(Data&);             ///< enqueues the kernel; called again and again when it is measured
    Comparison (*check)(Data&);        ///< compares the result of one launch with the CPU reference
    std::string (*note)(Data&) = nullptr; ///< more to tell, after the check; may be left out
    /// Floating-point operations of one launch, for kernels that are measured by them; may be left out.
    double (*operations)(const Data&) = nullptr;
};

/// What a program is, and which sizes it takes.
struct ProgramInfo {
    std::string name{};
    std::string summary{}; ///< one line for --help
    std::string size_unit = "elements";
    std::size_t size_with_clock = 0;    ///< default on a GPU: much larger than its L2 cache
    std::size_t size_without_clock = 0; ///< default on the emulator: done in a second
    std::size_t min_size = 0;
    std::size_t max_size = std::size_t{1} << 40;
    std::size_t device_bytes_per_element = 0; ///< device memory that the chapter's data takes
    std::size_t host_bytes_per_element = 0;   ///< host memory that the chapter's data takes
    DeviceNeeds needs{};
};

/// Compares a buffer with its reference bit for bit, and checks that nothing around it was written.
template <class Buffer, class T>
[[nodiscard]] Comparison check_exact(const Buffer& buffer, const std::vector<T>& expected) {
    Comparison result = compare_bits<T>(expected, buffer.download());
    result.problem += buffer.check_guards();
    return result;
}

/// The same for a matrix with padded rows, which `expected` has too: what is in the padding does not matter.
template <class Buffer, class T>
[[nodiscard]] Comparison check_matrix(const Buffer& buffer, std::vector<T> expected, Shape shape) {
    const std::vector<T> actual = buffer.download();
    adopt_padding<T>(expected, actual, shape);
    Comparison result = compare_bits<T>(expected, actual);
    result.problem += buffer.check_guards();
    return result;
}

/// Compares a buffer with its reference within a tolerance, and checks that nothing around it was written.
template <class Buffer, class T>
[[nodiscard]] Comparison check_values(const Buffer& buffer, const std::vector<T>& expected,
                                      Tolerance tolerance = {}) {
    Comparison result = compare_near<T>(expected, buffer.download(), tolerance);
    result.problem += buffer.check_guards();
    return result;
}

struct FileClose {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// An open file of the C library, or none.
using File = Owned<std::FILE*, FileClose>;

/// Host memory that programs can still have, in bytes; 0 if the system does not say.
[[nodiscard]] inline std::size_t available_host_memory() {
    const File meminfo(std::fopen("/proc/meminfo", "r"));
    char line[256];
    std::size_t kibibytes = 0;
    while (meminfo.get() != nullptr && std::fgets(line, sizeof line, meminfo.get()) != nullptr)
        if (std::sscanf(line, "MemAvailable: %zu", &kibibytes) == 1)
            return kibibytes * 1024;
    return 0;
}

/// Throws UsageError if data of `size` elements does not fit into the device or the host. A device without a
/// clock is emulated, so its memory is the host's too.
inline void require_memory(const ProgramInfo& info, std::size_t size, bool has_clock) {
    const auto fit = [&](std::size_t per_element, std::size_t available, const char* whose) {
        if (per_element == 0 || available == 0 || size <= available / per_element)
            return;
        throw UsageError("--size " + std::to_string(size) + " needs " + human_bytes(size * per_element) +
                         " of " + whose + " memory, " + human_bytes(available) +
                         " are free: choose at most " + std::to_string(available / per_element));
    };
    fit(info.device_bytes_per_element, free_device_memory(), "device");
    fit(info.host_bytes_per_element + (has_clock ? 0 : info.device_bytes_per_element),
        available_host_memory(), "host");
}

/// The text of --help.
[[nodiscard]] inline std::string help_text(const ProgramInfo& info, std::span<const std::string> kernels) {
    return info.name + ": " + info.summary + "\n\n" +                                                    //
           "  --size N        " + info.size_unit + "; default " + std::to_string(info.size_with_clock) + //
           " on a GPU, " + std::to_string(info.size_without_clock) + " on the emulator\n" +              //
           "  --seed N        seed of the random data; default 1\n" +                                    //
           "  --kernel NAME   run only this kernel; may be repeated\n" +                                 //
           "  --json FILE     write the results to FILE too\n" +                                         //
           "  --list          print the names of the kernels\n" +                                        //
           "  --help          print this\n\nkernels: " + join(kernels) + "\n" +                          //
           "exit code: 0 all correct, 1 something failed, 2 bad arguments, 77 no suitable device\n";
}

/// Runs, checks and measures one kernel. Errors become part of the result; true if the device can go on.
template <class Data>
bool run_kernel(const KernelEntry<Data>& entry, Data& data, KernelResult& result) {
    using Outcome = KernelResult::Outcome;
    result.bytes = entry.bytes(data);
    result.operations = entry.operations ? entry.operations(data) : 0;
    try {
        entry.prepare(data);
        entry.launch(data);
        synchronize(entry.name);
        const Comparison comparison = entry.check(data);
        result.outcome = comparison ? Outcome::ok : Outcome::wrong;
        result.detail = comparison ? "" : comparison.summary();
        if (entry.note)
            result.note = entry.note(data);
        if (comparison && result.bytes > 0)
            result.timing = measure([&](cudaStream_t) { entry.launch(data); }, {.working_set = result.bytes});
    } catch (const CudaError& error) {
        result.outcome = Outcome::error;
        result.detail = error.what();
        return !is_sticky(error.code());
    }
    return true;
}

/// Runs the chosen kernels and measures the copy ceiling.
template <class Data>
[[nodiscard]] Report run_kernels(const ProgramInfo& info, std::span<const KernelEntry<Data>> entries,
                                 const ProgramOptions& options, const RunContext& context) {
    Report report{.program = info.name,
                  .device = context.device,
                  .has_clock = context.has_clock,
                  .size = context.size,
                  .size_unit = info.size_unit,
                  .seed = context.seed,
                  .ceiling_bytes = 0,
                  .ceiling = {},
                  .kernels = {}};
    Data data(context);
    bool usable = true;
    for (const KernelEntry<Data>& entry : entries) {
        const auto& chosen = options.kernels;
        if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), entry.name) == chosen.end())
            continue;
        KernelResult result{.name = entry.name, .shows = entry.shows};
        if (usable)
            usable = run_kernel(entry, data, result);
        else
            result.detail = "not run: the error above made the device unusable for this process";
        report.ceiling_bytes = std::max(report.ceiling_bytes, result.bytes);
        report.kernels.push_back(std::move(result));
    }
    if (usable && context.has_clock) {
        report.ceiling_bytes = std::min(report.ceiling_bytes, free_device_memory() / 2);
        report.ceiling = copy_ceiling(report.ceiling_bytes);
    }
    return report;
}

/// Opens the file of --json, if there is one, before any work is done. Throws UsageError if it cannot be
/// written.
[[nodiscard]] inline File open_json(const ProgramOptions& options) {
    if (options.json.empty())
        return {};
    File file(std::fopen(options.json.c_str(), "w"));
    if (file.get() == nullptr)
        throw UsageError("--json " + options.json + ": the file cannot be written");
    return file;
}

/// Whether all of `text` has reached the file.
[[nodiscard]] inline bool write(const File& file, const std::string& text) {
    return std::fputs(text.c_str(), file.get()) >= 0 && std::fflush(file.get()) == 0;
}

/// Prints an error as one line, the program's name first.
inline int fail(const ProgramInfo& info, const std::string& message, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", info.name.c_str(), message.c_str());
    return code;
}

/// The body of run_program, which turns its exceptions into lines and exit codes.
template <class Data>
[[nodiscard]] int run_parsed(const ProgramInfo& info, std::span<const KernelEntry<Data>> entries, int argc,
                             char** argv) {
    OptionLimits limits{{}, info.min_size, info.max_size};
    for (const auto& entry : entries)
        limits.kernels.emplace_back(entry.name);
    const std::span<char* const> args(argv, static_cast<std::size_t>(std::max(argc, 0)));
    const ProgramOptions options = parse_options(args.subspan(args.empty() ? 0 : 1), limits);
    if (options.help) {
        std::fputs(help_text(info, limits.kernels).c_str(), stdout);
        return exit_code::ok;
    }
    if (options.list) {
        for (const std::string& name : limits.kernels)
            std::printf("%s\n", name.c_str());
        return exit_code::ok;
    }
    const File json = open_json(options);
    RunContext context;
    context.device = require(info.needs);
    context.has_clock = device_has_clock();
    context.size = options.size.value_or(context.has_clock ? info.size_with_clock : info.size_without_clock);
    context.seed = options.seed;
    require_memory(info, context.size, context.has_clock);

    const Report report = run_kernels(info, entries, options, context);
    std::fputs(report_text(report).c_str(), stdout);
    if (json.get() != nullptr && !write(json, report_json(report)))
        return fail(info, "--json " + options.json + ": writing the file failed", exit_code::failed);
    const bool all_ok =
        std::all_of(report.kernels.begin(), report.kernels.end(),
                    [](const KernelResult& kernel) { return kernel.outcome == KernelResult::Outcome::ok; });
    return all_ok ? exit_code::ok : exit_code::failed;
}

/// Does all that main has to do. Returns its exit code (see exit_code).
template <class Data>
[[nodiscard]] int run_program(const ProgramInfo& info, std::span<const KernelEntry<Data>> entries, int argc,
                              char** argv) {
    try {
        return run_parsed(info, entries, argc, argv);
    } catch (const UsageError& error) {
        return fail(info, error.what(), exit_code::usage);
    } catch (const DeviceLacks& error) {
        return fail(info,
                    error.what() + ("; use the emulator: ./workbook run --backend emulator " + info.name),
                    exit_code::device_lacks);
    } catch (const std::bad_alloc&) {
        return fail(info, "not enough host memory: choose a smaller --size", exit_code::failed);
    } catch (const std::exception& error) {
        return fail(info, error.what(), exit_code::failed);
    }
}

} // namespace workbook
