// What the emulator says where nothing orders two operations, or one and the host, and that it is silent
// where something does.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>
#include <utility>
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

/// The wrong variant gives the finding, with all of `words`, once; the right one says nothing.
void check(const std::string& name, const std::string& finding, const std::vector<std::string>& words) {
    const auto wrong = run(name, "wrong");
    INFO(name << ": " << wrong.err);
    CHECK(wrong.out == "cudaSuccess\n"); // A warning lets the program go on.
    CHECK(has(wrong.err, "warning[" + finding + "]\n"));
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
    check("event", "race-kernels",
          {"Kernel scale in stream 2 reads the 4096 bytes of device memory, which kernel scale in "
           "stream 1 writes",
           "no event orders the two", "order_program.cu",
           "Record an event after kernel scale (cudaEventRecord) and let stream 2 wait for it"});
    check("write-behind-read", "race-kernels", {"stream 2 writes", "in stream 1 reads"});
    check("copies", "race-kernels", {"The copy from device to device memory in stream 2 reads"});
}

TEST_CASE("an event from before the kernel covers nothing of it") {
    check("early-event", "race-kernels",
          {"stream 2 waits for an event of stream 1, but the event was recorded before the kernel",
           "Record the event after the launch of kernel scale"});
}

TEST_CASE("the default stream and a stream that does not wait for it") {
    check("default", "race-kernels", {"stream 1 was made with cudaStreamNonBlocking"});
    check("copy-back", "race-kernels",
          {"The copy from device to pageable host memory in the default stream reads"});
}

TEST_CASE("an ordinary write beside atomics") {
    check("cleared-sums", "race-kernels", {"The memset in stream 2 writes"});
}

TEST_CASE("nodes of a graph without an edge") {
    check("edge", "race-kernels",
          {"no path of edges leads from one node to the other",
           "Add a dependency of the node of kernel scale"});
    check("captured", "race-kernels", {"no path of edges", "cudaStreamWaitEvent before the launch"});
}

TEST_CASE("memory that is freed while another stream uses it") {
    check("freed-async", "freed-in-use",
          {"cudaFreeAsync in stream 1 gives back the 4096 bytes", "kernel scale in stream 2 may still use",
           "cudaStreamWaitEvent before cudaFreeAsync"});
    check("freed", "freed-in-use", {"cudaFree gives back", "the memset in stream 1 may still use"});
}

TEST_CASE("memory that the host changes too early") {
    check("refilled", "race-host",
          {"a copy that has not been waited for may still read", "cudaEventSynchronize"});
    check("overwritten", "race-host", {"a copy that has not been waited for may still write"});
    check("managed", "race-host", {"a kernel that has not been waited for may still read"});
}

TEST_CASE("a result that the host reads too early") {
    const std::pair<const char*, const char*> reads[]{
        {"early-read",
         "The host reads byte 36 of the 4096 bytes of page-locked host memory, which a copy that has "
         "not been waited for may still write"},
        {"early-managed-read",
         "The host reads byte 36 of the 4096 bytes of managed memory, which a kernel that has "
         "not been waited for may still write"}};
    for (const auto& [name, words] : reads) {
        const auto wrong = run(name, "wrong"), right = run(name, "right");
        INFO(wrong.err << right.err);
        CHECK(has(wrong.err, std::string("warning[race-host]\n  ") + words));
        CHECK(has(wrong.err, "Wait before the host reads there: cudaStreamSynchronize on the stream of the"));
        CHECK(wrong.out == right.out); // The emulator's copy has ended.
        CHECK(right.out.ends_with("cudaSuccess\n"));
        CHECK(right.err.empty());
    }
}

TEST_CASE("what is ordered in other ways, or needs no order, is silent") {
    for (const char* name :
         {"neighbours", "same-values", "told-by-flag", "told-to-host", "host-function", "host-threads",
          "told-weakly", "other-half", "round-trip", "many-rounds", "stream-values"})
        for (const char* variant : {"wrong", "right"})
            for (const char* threads : {"1", "2"}) {
                const auto ended = run(name, variant, threads);
                INFO(name << ' ' << variant << ": " << ended.err);
                CHECK(ended.exit_code == 0);
                CHECK(ended.err.empty());
            }
}
