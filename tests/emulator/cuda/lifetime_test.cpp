// Programs that call the API when the process or a thread ends come to a clean end, whatever they call. The
// libraries keep all their state in one place that is never destroyed (common/emulator/cuda/owner.hpp).

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using test_support::Finished;

namespace {

Finished run(std::vector<std::string> argv) {
    return test_support::run({.argv = std::move(argv), .time_limit = std::chrono::seconds(300)});
}

bool has(const char* program) {
    return run({"/bin/sh", "-c", std::string("command -v ") + program}).exit_code == 0;
}

const std::vector<std::string> places{"global", "thread", "main-thread", "atexit", "detached"};

} // namespace

TEST_CASE("each group of the API may be called late, also as the first call") {
    const auto group = GENERATE(as<std::string>(), "memory", "streams", "events", "modules", "linking",
                                "launches", "graphs");
    for (const std::string& place : places)
        for (const char* before : {"", "used"}) {
            std::vector<std::string> argv{LIFETIME_PROGRAM, place, group};
            if (*before)
                argv.emplace_back(before);
            const Finished ended = run(argv);
            INFO(place << ' ' << group << ' ' << before << ": " << ended.how());
            CHECK(ended.exit_code == 0);
            CHECK(ended.out == "main ends\n");
            CHECK(ended.err.empty());
        }
}

TEST_CASE("valgrind finds nothing in late calls") {
#ifdef __SANITIZE_ADDRESS__
    SKIP("valgrind cannot run what AddressSanitizer watches");
#endif
    if (!has("valgrind"))
        SKIP("valgrind is not installed");
    // Not the detached thread: it is cut off wherever it is. One run, since valgrind reads much before it
    // begins. In 4 GiB of addresses: valgrind takes a minute to enter the hundreds that the libraries reserve
    // where nothing limits them.
    const Finished ended =
        run({"/bin/sh", "-c", "ulimit -v 4194304 && exec \"$@\"", "sh", "valgrind", "--quiet",
             "--error-exitcode=99", LIFETIME_PROGRAM, "everywhere", "all", "used"});
    INFO(ended.how() << '\n' << ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(ended.out == "main ends\n");
    CHECK(ended.err.empty());
}

TEST_CASE("no object of the libraries is destroyed at the end of the process or of a thread") {
#ifdef __SANITIZE_ADDRESS__
    SKIP("sanitizers bring destructors of their own");
#endif
    if (!has("nm"))
        SKIP("nm is not installed");
    // Of the emulator's own objects: what a C or C++ library brings into the linked file is that library's
    // affair.
    std::vector<std::string> list{"nm", "--undefined-only"};
    namespace fs = std::filesystem;
    for (const char* place : {"library", "images", "cuda"})
        for (const auto& part : fs::directory_iterator(fs::path(EMULATOR_OBJECTS) / place))
            if (part.path().filename().string().starts_with("lib") && part.path().extension() == ".p")
                for (const auto& entry : fs::directory_iterator(part))
                    if (entry.path().extension() == ".o")
                        list.push_back(entry.path().string());
    REQUIRE(list.size() >
            50); // The emulator itself is among them, in however many libraries, six files at a time.
    const Finished symbols = run(list);
    REQUIRE(symbols.exit_code == 0);
    REQUIRE(symbols.out.find("pthread_key_create") != std::string::npos); // It is the right list.
    INFO("a namespace-scope, static or thread_local object with a destructor is new; let the owner have it");
    CHECK(symbols.out.find("__cxa_atexit") == std::string::npos);
    CHECK(symbols.out.find("__cxa_thread_atexit") == std::string::npos);
}
