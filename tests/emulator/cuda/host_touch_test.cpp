// What becomes of a program whose host touches memory of the device: it ends as on a GPU, and the emulator
// says why; and what the host may touch it may touch. On a GPU only the ends are compared.

#include "backend.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

using test_support::Finished;

namespace {

/// AddressSanitizer reports the signal and ends the process itself.
#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

const std::string program = test_support::environment_variable("HOST_TOUCH_PROGRAM");

bool on_gpu() { return test_support::choose_backend() == "gpu"; }

Finished run(std::vector<std::string> argv, const std::string& report = {}) {
    test_support::Command command{.argv = std::move(argv)};
    if (!on_gpu())
        command.environment = {{"LD_LIBRARY_PATH", test_support::environment_variable("EMULATOR_LIB")},
                               {"EMULATOR_REPORT", report}};
    return test_support::run(command);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_end(const Finished& ended) {
    INFO(ended.how() << '\n' << ended.err);
    CHECK((sanitized ? ended.exit_code != 0 : ended.signal == SIGSEGV));
    CHECK_FALSE(has(ended.out, "goes on"));
}

/// It ends by SIGSEGV, behind one line with these words.
void check_told(const std::string& name, const std::string& what, const std::string& advice) {
    const Finished ended = run({program, name});
    INFO(name << ": " << ended.err);
    check_end(ended);
    if (on_gpu())
        return;
    const std::string begin = "emulator: error[host-touched-device-memory]: The host ";
    CHECK(ended.err.starts_with(begin));
    const std::string line = ended.err.substr(0, ended.err.find('\n'));
    CHECK(has(line, what));
    CHECK(has(line, advice));
    CHECK(ended.err.find(begin, 1) == std::string::npos);
    if (!sanitized)
        CHECK(line.size() + 1 == ended.err.size());
}

void check_silent_death(const std::string& name) {
    const Finished ended = run({program, name});
    check_end(ended);
    CHECK_FALSE(has(ended.err, "host-touched-device-memory"));
}

constexpr const char* copy_it = "Copy it with cudaMemcpy, or allocate it with cudaMallocManaged";
constexpr const char* copy_symbol = "Copy it with cudaMemcpyFromSymbol or cudaMemcpyToSymbol";
constexpr const char* free_later = "Free memory only after the host's last use";

} // namespace

TEST_CASE("the host touches memory of cudaMalloc") {
    check_told("read", "reads byte 20 of 4096 bytes of device memory.", copy_it);
    check_told("write", "writes byte 20 of 4096 bytes of device memory.", copy_it);
    check_told("memcpy", "reads byte ", copy_it);
    check_told("host-free", ", an address of device memory that belongs to no allocation.",
               "and cudaFree frees it");
}

TEST_CASE("the host touches memory of a pool and of a graph") {
    check_told("pool", "reads byte 0 of 64 bytes of device memory.", copy_it);
    check_told("graph", "reads byte 0 of 256 bytes of device memory.", copy_it);
}

TEST_CASE("the host touches variables of the device by their address") {
    check_told("variable", "reads byte 0 of the device's variable counter (4 bytes).", copy_symbol);
    check_told("constant", "writes byte 4 of the device's variable coefficients (16 bytes).", copy_symbol);
}

TEST_CASE("the host touches memory that was freed") {
    check_told("freed-device", "reads byte 4 of 4096 bytes of device memory that was freed.", copy_it);
    check_told("freed-managed", "reads byte 4 of 4096 bytes of managed memory that was freed.", free_later);
    check_told("freed-page-locked", "writes byte 8 of 4096 bytes of page-locked memory that was freed.",
               free_later);
}

TEST_CASE("the host touches managed memory that was freed, beside memory in use") {
    if (on_gpu())
        SKIP("the driver of an H200 leaves the page open while memory beside it is in use");
    check_told("freed-beside-used", "reads byte 4 of 4096 bytes of managed memory that was freed.",
               free_later);
}

TEST_CASE("the host touches managed memory that a stream freed") {
    if (on_gpu())
        SKIP("not said to work on a GPU");
    check_told("freed-in-stream", "reads byte 4 of 4096 bytes of managed memory that was freed.", free_later);
}

TEST_CASE("other threads of the host touch memory of the device") {
    check_told("host-function", "reads byte 0 of 4096 bytes of device memory.", copy_it);
    check_told("thread", "reads byte 0 of 4096 bytes of device memory.", copy_it);
}

TEST_CASE("a handler that the program set is called behind the line") {
    const Finished ended = run({program, "own-handler"});
    INFO(ended.how() << '\n' << ended.err);
    CHECK(ended.exit_code == 3);
    CHECK(ended.out == "mine\n");
    if (!on_gpu())
        CHECK(has(ended.err, "The host reads byte 0 of 4096 bytes of device memory."));
}

TEST_CASE("other faults are none of the emulator's") {
    check_silent_death("null");
    check_silent_death("sent");
}

TEST_CASE("the host touches what CUDA lets it touch, and copies the rest") {
    for (const char* const name : {"allowed", "again"}) {
        const Finished ended = run({program, name});
        INFO(name << ": " << ended.how() << '\n' << ended.out << ended.err);
        CHECK(ended.exit_code == 0);
        CHECK(ended.out == "goes on\n");
        CHECK(ended.err.empty());
    }
}

TEST_CASE("a host that touches memory of the device is in the report file") {
    if (on_gpu())
        SKIP("only the emulator has one");
    const auto file =
        std::filesystem::temp_directory_path() / ("host_touch_" + std::to_string(getpid()) + ".json");
    check_end(run({program, "read"}, file.string()));
    std::stringstream report;
    report << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    CHECK(report.str() == "{\"name\":\"host-touched-device-memory\",\"severity\":\"error\",\"kernel\":\"\","
                          "\"message\":\"The host "
                          "reads byte 20 of 4096 bytes of device memory.\",\"advice\":\"Copy it with "
                          "cudaMemcpy, or allocate it "
                          "with cudaMallocManaged: only kernels and CUDA's functions reach device "
                          "memory.\",\"locations\":[]}\n");
}

TEST_CASE("where addresses are limited nothing is closed, and programs go on") {
    if (on_gpu() || sanitized)
        SKIP("a GPU and a sanitizer need more addresses");
    for (const char* const name : {"read", "allowed", "again"}) {
        const Finished ended = run({"/bin/sh", "-c", "ulimit -v 4000000; exec \"$0\" \"$1\"", program, name});
        INFO(name << ": " << ended.how() << '\n' << ended.out << ended.err);
        CHECK(ended.exit_code == 0);
        CHECK(ended.out == "goes on\n");
    }
}
