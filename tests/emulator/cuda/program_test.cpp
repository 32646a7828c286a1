// Whole programs on the emulator's CUDA libraries: what they print and how they end.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using test_support::Command;
using test_support::Finished;

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE(value != nullptr);
    return value;
}

Finished run_emulated(std::vector<std::string> argv) {
    return test_support::run(
        {.argv = std::move(argv), .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")}}});
}
Finished run_with(const std::string& what, const std::string& setting, const std::string& value) {
    return test_support::run(
        {.argv = {variable("CUDA_PROGRAM"), what},
         .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")}, {setting, value}}});
}
Finished run_program(const std::string& what) { return run_emulated({variable("CUDA_PROGRAM"), what}); }

long count(const std::string& text, const std::string& part) {
    long found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Programs that the tests compile must have the sanitizers that the emulator's libraries have.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// A directory that goes away with the test.
class Scratch {
  public:
    Scratch() : path_(std::filesystem::temp_directory_path() / ("cuda_program_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

std::string compile(const Scratch& scratch, const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> argv{variable("NVCC"), "-std=c++20", "-cudart",
                                  "shared",         "-o",         scratch.file(name)};
    if (sanitized)
        argv.insert(argv.end(), {"-Xcompiler", "-fsanitize=address", "-Xcompiler", "-fsanitize=undefined"});
    argv.insert(argv.end(), options.begin(), options.end());
    const Finished built = test_support::run({.argv = argv, .time_limit = std::chrono::seconds(120)});
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    return scratch.file(name);
}

/// "FILE:LINE" of the line that ends with a comment.
std::string place(const std::string& file, const std::string& comment) {
    std::ifstream in(file);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number)
        if (line.ends_with(comment))
            return file + ":" + std::to_string(number);
    FAIL("no line of " << file << " ends with " << comment);
    return {};
}

} // namespace

TEST_CASE("device printf comes between the host's lines") {
    const Finished ended = run_program("print");
    CHECK(ended.exit_code == 0);
    CHECK(ended.out ==
          "before\nthread 0 of block 0\nthread 1 of block 0\nthread 0 of block 1\nthread 1 of block "
          "1\nafter\n");
    CHECK(ended.err.empty());
}

TEST_CASE("a fault that nobody asks about makes the status 1") {
    const Finished ended = run_program("fault");
    CHECK(ended.exit_code == 1);
    CHECK(count(ended.err, "out-of-bounds") == 1);
    CHECK(count(ended.err, "exit status becomes 1") == 1);
}

TEST_CASE("a fault that the program asked about leaves its status alone") {
    const Finished ended = run_program("asked-fault");
    CHECK(ended.exit_code == 0);
    CHECK(ended.out == "cudaErrorIllegalAddress\n");
}

TEST_CASE("the exit status follows errors or all findings, if that is asked for") {
    const auto status = [](const char* program, const char* setting) {
        return run_with(program, "EMULATOR_EXIT_STATUS", setting).exit_code;
    };
    CHECK(status("print", "findings") == 0);
    CHECK(status("asked-fault", "program") == 0);
    CHECK(status("asked-fault", "errors") == 1);
    CHECK(status("asked-fault", "findings") == 1);
    CHECK(status("unwritten", "program") == 0);
    CHECK(status("unwritten", "errors") == 0);
    const Finished ended = run_with("unwritten", "EMULATOR_EXIT_STATUS", "findings");
    CHECK(ended.exit_code == 1);
    CHECK(count(ended.err, "emulator: 1 warning above") == 1);
    CHECK(run_with("bad-name", "EMULATOR_EXIT_STATUS", "findings").exit_code == 2); // The program's own.
}

TEST_CASE("a use of global memory that nobody wrote is a warning, an error or nothing") {
    const auto of = [](const char* value) {
        return run_with("unwritten", "EMULATOR_UNINITIALISED_GLOBAL", value);
    };
    CHECK(count(of("warning").err, "warning[uninitialised-global]") == 1);
    CHECK(of("warning").out == "cudaSuccess\n");
    CHECK(count(of("error").err, "error[uninitialised-global]") == 1);
    CHECK(of("error").out == "cudaErrorLaunchFailure\n");
    CHECK(of("off").err.empty());
}

TEST_CASE("what was never freed is told on request") {
    const std::string told = run_with("unwritten", "EMULATOR_LEAKS", "1").err;
    CHECK(count(told,
                "note[leak]\n  8 bytes of device memory were never freed.\n  what to do: Call cudaFree.\n") ==
          1);
    CHECK(count(run_program("unwritten").err, "leak") == 0);
}

TEST_CASE("of many warnings ten are told, the number of the others, and the report file has all") {
    const Scratch scratch;
    const std::string file = scratch.file("report");
    const Finished ended = run_with("many-unwritten", "EMULATOR_REPORT", file);
    CHECK(ended.out == "cudaSuccess\n");
    CHECK(count(ended.err, "warning[uninitialised-global]") == 10);
    CHECK(count(ended.err, "and 2 more warnings in kernel ") == 1);
    CHECK(count(ended.err, file + " has them") == 1);
    std::stringstream report;
    report << std::ifstream(file).rdbuf();
    CHECK(count(report.str(), "\"name\":\"uninitialised-global\"") == 12);
    CHECK(count(run_program("many-unwritten").err, "a report file (--report, EMULATOR_REPORT) has them") ==
          1);
    CHECK(count(run_program("unwritten").err, "more warning") == 0);
}

TEST_CASE("a file that cannot be written ends the program before its first launch") {
    for (const std::string setting : {"EMULATOR_REPORT", "EMULATOR_COUNTERS", "EMULATOR_TRACE"}) {
        const Finished ended = run_with("print", setting, "/no/such/directory/file");
        INFO(setting << ": " << ended.how() << '\n' << ended.err);
        CHECK(ended.exit_code == 2);
        CHECK(ended.err ==
              "emulator: " + setting +
                  ": cannot write the file /no/such/directory/file (No such file or directory)\n");
        CHECK(count(ended.out, "thread") == 0);
    }
}

TEST_CASE("a file that takes nothing more is told once and makes the status 1") {
    for (const std::string setting : {"EMULATOR_REPORT", "EMULATOR_COUNTERS", "EMULATOR_TRACE"}) {
        const Finished ended = run_with("many-unwritten", setting, "/dev/full");
        INFO(setting << ": " << ended.how() << '\n' << ended.err);
        CHECK(ended.exit_code == 1);
        CHECK(ended.out == "cudaSuccess\n");
        CHECK(count(ended.err, "file /dev/full; it is not complete\n") == 1);
        CHECK(count(ended.err, "a file above could not be written; the exit status becomes 1\n") == 1);
    }
}

TEST_CASE("a refused launch is explained and makes the status 1") {
    const Finished ended = run_program("refused-launch");
    CHECK(ended.exit_code == 1);
    CHECK(count(ended.err, "5000x1x1") == 1);
}

TEST_CASE("grid.sync() in a plain launch, or not by all blocks, is named") {
    const Finished plain = run_program("grid-sync-plain");
    CHECK(plain.out == "cudaErrorLaunchFailure\n");
    CHECK(count(plain.err, "error[trap]") == 1);
    CHECK(count(plain.err, "cudaLaunchCooperativeKernel") == 1);
    const Finished some = run_program("grid-sync-some");
    CHECK(count(some.err, "error[deadlock]") == 1);
    CHECK(count(some.err, "Every thread of every block must reach the same grid.sync()") == 1);
    const Finished all = run_program("grid-sync-all");
    CHECK(all.out == "cudaSuccess\n");
    CHECK(all.err.empty());
}

TEST_CASE("a kernel that waits for one behind it is a deadlock, and the report says what stands behind") {
    const std::pair<const char*, const char*> ways[]{
        {"later-same", "both are in the same stream"},
        {"later-event", "an event or an edge of a graph orders it after this one"},
        {"later-default",
         "the default stream and streams made without cudaStreamNonBlocking wait for each other"},
    };
    for (const auto& [what, why] : ways) {
        const Finished ended = run_program(what);
        INFO(what << ": " << ended.how() << '\n' << ended.err);
        CHECK(ended.out == "cudaErrorLaunchTimeout\n");
        CHECK(count(ended.err, "error[") == 1);
        CHECK(count(ended.err, "error[deadlock]") == 1);
        CHECK(count(ended.err, "was launched later and cannot begin before this one ends") == 1);
        CHECK(count(ended.err, why) == 1);
        CHECK(count(ended.err, "launch that one first, or in another stream") == 1);
    }
}

TEST_CASE("a kernel that no longer can end is blamed, not the one that waits for it") {
    const Finished ended = run_program("stuck");
    INFO(ended.how() << '\n' << ended.err);
    CHECK(ended.out == "cudaErrorLaunchTimeout\n");
    CHECK(count(ended.err, "error[") == 1);
    CHECK(count(ended.err, "error[deadlock] in kernel") == 1);
    CHECK(count(ended.err, "two_barriers") == 1);
    CHECK(count(ended.err, "at block barrier 1: 32 of 64 threads have arrived") == 1);
}

TEST_CASE("findings of streams that need nothing from each other come in the order of the launches") {
    for (int i = 0; i < 3; ++i) {
        const Finished ended = run_program("in-order");
        INFO(ended.err);
        CHECK(ended.out == "cudaSuccess\n");
        std::size_t last = 0;
        for (int number = 1; number <= 4; ++number) {
            const std::string name = "add_number<" + std::to_string(number) + ">";
            REQUIRE(count(ended.err, name) == 1);
            CHECK(ended.err.find(name) >= last);
            last = ended.err.find(name);
        }
    }
}

TEST_CASE("a kernel that still waits when the program ends is a deadlock") {
    const Finished ended = run_program("leave-waiting");
    INFO(ended.err);
    CHECK(ended.out == "main ends\n");
    CHECK(ended.exit_code == 1);
    CHECK(count(ended.err, "error[deadlock]") == 1);
}

TEST_CASE("an unsupported function is named once and returns an error") {
    const Finished ended = run_program("unsupported");
    CHECK(ended.exit_code == 3);
    CHECK(ended.out == "cudaErrorNotSupported\ncudaErrorNotSupported\n");
    CHECK(count(ended.err, "cudaMallocArray is not supported") == 1);
}

TEST_CASE("an unknown instruction is named once, however many threads ask") {
    for (int round = 0; round < 5; ++round) {
        const Finished ended = run_program("unknown-instruction");
        CHECK(ended.exit_code == 3);
        CHECK(ended.out == "16 of 16\n");
        CHECK(count(ended.err, "error[unsupported-instruction]") == 1);
        CHECK(count(ended.err, "frobnicate") >= 1);
    }
}

TEST_CASE("a child of fork is told that it has no GPU") {
    const Finished ended = run_program("fork");
    CHECK(ended.exit_code == 0);
    CHECK(ended.out ==
          "cudaSuccess\ncudaErrorInitializationError\nchild ended with 0, parent: cudaSuccess\n");
}

TEST_CASE("a destructor of the program may still use CUDA") {
    const Finished ended = run_program("late-free");
    CHECK(ended.exit_code == 0);
    CHECK(ended.out == "late free: cudaSuccess\n");
}

TEST_CASE("several source files, each with its own module") {
    const Finished ended = run_program("several-files");
    CHECK(ended.out == "sum 55\n");
    CHECK(ended.exit_code == 0);
}

TEST_CASE("a wrong setting ends the program with one line") {
    const Finished ended = test_support::run(
        {.argv = {variable("CUDA_PROGRAM"), "start"},
         .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")}, {"EMULATOR_ORDER", "sideways"}}});
    CHECK(ended.exit_code == 2);
    CHECK(count(ended.err, "EMULATOR_ORDER must be") == 1);
    CHECK(count(ended.err, "\n") == 1);
    for (const char* wrong : {"1.5", "-1", "two", "5000000000", "0x10"})
        CHECK(run_with("start", "EMULATOR_THREADS", wrong).err ==
              "emulator: EMULATOR_THREADS must be a whole number from 0 to 4294967295, not '" +
                  std::string(wrong) + "'\n");
    CHECK(run_with("start", "EMULATOR_THREADS", "0").exit_code == 0);
    CHECK(run_with("start", "EMULATOR_SEED", "1e3").exit_code == 2);
    CHECK(run_with("start", "EMULATOR_WATCHDOG", "nan").exit_code == 2);
    CHECK(run_with("start", "EMULATOR_WATCHDOG", "0.5").exit_code == 0);
    const Finished other = run_with("start", "EMULATOR_EXIT_STATUS", "never");
    CHECK(other.exit_code == 2);
    CHECK(other.err == "emulator: EMULATOR_EXIT_STATUS must be program, errors or findings, not 'never'\n");
}

TEST_CASE("starting costs at most 50 ms") {
    auto best = std::chrono::milliseconds::max();
    for (int i = 0; i < 5; ++i) {
        const Finished ended = run_program("start");
        REQUIRE(ended.exit_code == 0);
        best = std::min(best, ended.elapsed);
    }
    CHECK(best <= std::chrono::milliseconds(sanitized ? 1000 : 50));
}

TEST_CASE("a finding in a helper header names the calls that lead to it", "[compiles]") {
    const Scratch scratch;
    const std::string file = variable("CUDA_SOURCES") + "/lines.cu";
    const std::string header = variable("CUDA_SOURCES") + "/lines_helpers.cuh";
    const std::string program =
        compile(scratch, "lines", {"-lineinfo", "-gencode", "arch=compute_90,code=[compute_90,sm_90]", file});
    const std::string stuck = run_emulated({program, "stuck"}).err;
    INFO(stuck);
    CHECK(count(stuck, "error[") == 1);
    CHECK(count(stuck,
                "asm volatile(\"{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [") == 1);
    CHECK(count(stuck, "      called from " + place(header, "// waits") + "\n      called from " +
                           place(file, "// acquires") + "\n") == 1);
    CHECK(count(stuck, "(initialised at " + place(header, "// full") + ", the 2nd of 2)") == 1);
    CHECK(count(stuck, "-lineinfo") == 0);

    const std::string twice = run_emulated({program, "twice"}).err;
    INFO(twice);
    CHECK(count(twice, "error[out-of-bounds]") == 1);
    CHECK(count(twice, "      called from " + place(file, "// second") + "\n") == 1);
    CHECK(count(twice, "called from " + place(file, "// first")) == 0);

    const std::string races = run_emulated({program, "races"}).err;
    INFO(races);
    CHECK(count(races, "error[race-shared]") == 2);
    CHECK(count(races, "      called from " + place(file, "// written in a loop") + "\n") == 1);
    CHECK(count(races, "      called from " + place(file, "// written alone") + "\n") == 1);
    CHECK(count(races, "  and 3 more like it\n") == 1);
}

TEST_CASE("code that is not optimised names the calls too; without line information it is said once",
          "[compiles]") {
    const Scratch scratch;
    const std::string file = variable("CUDA_SOURCES") + "/lines.cu";
    const std::string header = variable("CUDA_SOURCES") + "/lines_helpers.cuh";
    const std::vector<std::string> options{"-gencode", "arch=compute_90,code=[compute_90,sm_90]", file};
    std::vector<std::string> debug = options;
    debug.push_back("-G");
    const std::string unoptimised = compile(scratch, "debug", debug);
    const std::string stuck = run_emulated({unoptimised, "stuck"}).err;
    INFO(stuck);
    CHECK(count(stuck, "      called from " + place(header, "// waits") + "\n      called from " +
                           place(file, "// acquires") + "\n") == 1);
    CHECK(count(stuck, "(initialised at " + place(header, "// full") + ", the 2nd of 2)") == 1);
    CHECK(count(stuck, "mbarrier ring.full[1] ") == 1);
    const std::string lines = compile(scratch, "lines", {"-lineinfo", options[0], options[1], options[2]});
    CHECK(count(run_emulated({lines, "stuck"}).err, "mbarrier ring + 264 ") == 1); // No types with -lineinfo

    const std::string called = run_emulated({unoptimised, "races"}).err;
    INFO(called);
    CHECK(count(called, "      called from " + place(file, "// written in a loop") + "\n") == 1);
    CHECK(count(called, "      called from " + place(file, "// written alone") + "\n") == 1);
    CHECK(count(called, " at tile[") >= 2);

    const std::string races = run_emulated({compile(scratch, "plain", options), "races"}).err;
    INFO(races);
    CHECK(count(races, "--> PTX:") >= 2);
    CHECK(count(races, "compile with -lineinfo to see your own lines") == 1);
}

TEST_CASE("relocatable device code of two files", "[compiles]") {
    const Scratch scratch;
    const std::string source = variable("CUDA_SOURCES");
    const auto link = [&](const std::string& name, const std::string& code) {
        return compile(scratch, name,
                       {"-rdc=true", "-lineinfo", "-gencode", "arch=compute_90,code=" + code,
                        source + "/linked_main.cu", source + "/linked_part.cu"});
    };
    // With PTX alone nvcc adds its library for launches by kernels, which is machine code.
    for (const std::string code : {"[compute_90,sm_90]", "compute_90"}) {
        const Finished ended = run_emulated({link("linked", code)});
        INFO(code << ": " << ended.err);
        CHECK(ended.out == "1121 1141 1161 1181\n");
        CHECK(ended.exit_code == 0);
    }
    CHECK(count(run_emulated({link("linked_code", "sm_90")}).err, "built without PTX") == 1);
}

TEST_CASE("a kernel that launches a kernel is refused by name and line; other kernels run", "[compiles]") {
    const Scratch scratch;
    const std::string program =
        compile(scratch, "nested",
                {"-rdc=true", "-lineinfo", "-gencode", "arch=compute_90,code=[compute_90,sm_90]",
                 variable("CUDA_SOURCES") + "/nested.cu", "-lcudadevrt"});
    const Finished ended = run_emulated({program});
    INFO(ended.err);
    CHECK(ended.out == "plain: cudaSuccess, 7\nnested: cudaErrorNotSupported\n");
    CHECK(count(ended.err, "error[") == 1);
    CHECK(count(ended.err, "nested.cu:10: ") == 1);
    CHECK(count(ended.err, "kernels that launch kernels") == 1);
}

TEST_CASE("a program without PTX says how to build it", "[compiles]") {
    const Scratch scratch;
    const std::string program =
        compile(scratch, "machine_code",
                {"-gencode", "arch=compute_90,code=sm_90", variable("CUDA_SOURCES") + "/program.cu",
                 variable("CUDA_SOURCES") + "/program_other.cu"});
    const Finished ended = run_emulated({program, "asked-fault"});
    CHECK(count(ended.err, "arch=compute_90,code=[compute_90,sm_90]") == 1);
    CHECK(ended.exit_code == 1);
}

TEST_CASE("uncompressed and LZ4-compressed fat binaries", "[compiles]") {
    const Scratch scratch;
    for (const std::string mode : {"none", "speed", "size"}) {
        const std::string program = compile(
            scratch, "program_" + mode,
            {"-gencode", "arch=compute_90,code=compute_90", "-compress-mode=" + mode,
             variable("CUDA_SOURCES") + "/program.cu", variable("CUDA_SOURCES") + "/program_other.cu"});
        INFO(mode);
        CHECK(run_emulated({program, "several-files"}).out == "sum 55\n");
    }
}
