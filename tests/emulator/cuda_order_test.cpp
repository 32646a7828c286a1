// What the emulator says where nothing orders two operations, or one and the host, and that it is silent
// where something does.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE(value != nullptr);
    return value;
}

test_support::Finished run(const std::string& name, const std::string& variant,
                           const std::string& threads = "2") {
    return test_support::run(
        {.argv = {variable("CUDA_ORDER_PROGRAM"), name, variant},
         .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")}, {"EMULATOR_THREADS", threads}}});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The wrong variant says all of `words`, once; the right one says nothing.
void check(const std::string& name, const std::vector<std::string>& words) {
    const auto wrong = run(name, "wrong");
    INFO(name << ": " << wrong.err);
    CHECK(wrong.out == "cudaSuccess\n"); // A warning lets the program go on.
    for (const std::string& each : words) {
        INFO(each);
        CHECK(has(wrong.err, each));
    }
    const std::size_t first = wrong.err.find("warning[");
    CHECK(wrong.err.find("warning[", first + 1) == std::string::npos);
    const auto right = run(name, "right");
    INFO(right.err);
    CHECK(right.exit_code == 0);
    CHECK(right.err.empty());
}

} // namespace

TEST_CASE("two streams and no event") {
    check("event", {"warning[race-kernels]",
                    "Kernel scale in stream 2 reads the 4096 bytes of device memory, which kernel scale in "
                    "stream 1 writes",
                    "no event orders the two", "cuda_order_program.cu",
                    "Record an event behind kernel scale (cudaEventRecord) and let stream 2 wait for it"});
    check("write-behind-read", {"warning[race-kernels]", "stream 2 writes", "in stream 1 reads"});
    check("copies", {"warning[race-kernels]", "The copy from device to device memory in stream 2 reads"});
}

TEST_CASE("an event from before the kernel covers nothing of it") {
    check("early-event",
          {"warning[race-kernels]",
           "stream 2 waits for an event of stream 1, but the event was recorded before the kernel",
           "Record the event after the launch of kernel scale"});
}

TEST_CASE("the default stream and a stream that does not wait for it") {
    check("default", {"warning[race-kernels]", "stream 1 was made with cudaStreamNonBlocking"});
    check("copy-back", {"warning[race-kernels]",
                        "The copy from device to pageable host memory in the default stream reads"});
}

TEST_CASE("an ordinary write beside atomics") {
    check("cleared-sums", {"warning[race-kernels]", "The memset in stream 2 writes"});
}

TEST_CASE("nodes of a graph without an edge") {
    check("edge", {"warning[race-kernels]", "no path of edges leads from one node to the other",
                   "Add a dependency of the node of kernel scale"});
    check("captured", {"warning[race-kernels]", "no path of edges", "cudaStreamWaitEvent before the launch"});
}

TEST_CASE("memory that is freed while another stream uses it") {
    check("freed-async",
          {"warning[freed-in-use]", "cudaFreeAsync in stream 1 gives back the 4096 bytes",
           "kernel scale in stream 2 may still use", "cudaStreamWaitEvent before cudaFreeAsync"});
    check("freed", {"warning[freed-in-use]", "cudaFree gives back", "the memset in stream 1 may still use"});
}

TEST_CASE("memory that the host changes too early") {
    check("refilled", {"warning[race-host]", "a copy that has not been waited for may still read",
                       "cudaEventSynchronize"});
    check("overwritten", {"warning[race-host]", "a copy that has not been waited for may still write"});
    check("managed", {"warning[race-host]", "a kernel that has not been waited for may still read"});
}

TEST_CASE("a result that is read too early is there, and nothing is said") {
    for (const char* variant : {"wrong", "right"}) {
        const auto ended = run("early-read", variant);
        CHECK(ended.out == "5 cudaSuccess\n");
        CHECK(ended.err.empty());
    }
}

TEST_CASE("what is ordered in other ways, or needs no order, is silent") {
    for (const char* name : {"neighbours", "same-values", "told-by-flag", "told-to-host", "host-function",
                             "host-threads", "told-weakly", "round-trip", "many-rounds", "stream-values"})
        for (const char* variant : {"wrong", "right"})
            for (const char* threads : {"1", "2"}) {
                const auto ended = run(name, variant, threads);
                INFO(name << ' ' << variant << ": " << ended.err);
                CHECK(ended.exit_code == 0);
                CHECK(ended.err.empty());
            }
}
