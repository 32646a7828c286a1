#include "backend.hpp"

#include "process.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace test_support {
namespace {

/// Whether nvidia-smi knows a GPU of compute capability 9.0 or newer.
bool has_suitable_gpu() {
    try {
        const Finished answer =
            run({.argv = {"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"},
                 .time_limit = std::chrono::seconds(20)});
        std::istringstream lines(answer.out);
        for (double capability = 0; answer.exit_code == 0 && lines >> capability;)
            if (capability >= 9.0)
                return true;
    } catch (const std::system_error&) { // no nvidia-smi
    }
    return false;
}

} // namespace

std::string environment_variable(const char* name, const std::string& otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string choose_backend() {
    const std::string wish = environment_variable("WORKBOOK_BACKEND", "auto");
    if (wish == "gpu" || wish == "emulator")
        return wish;
    if (wish != "auto")
        throw std::runtime_error("WORKBOOK_BACKEND is '" + wish + "'; it may be auto, gpu or emulator");
    return has_suitable_gpu() ? "gpu" : "emulator";
}

std::string emulator_library() {
    const std::string directory = environment_variable("EMULATOR_LIB");
    return std::filesystem::exists(std::filesystem::path(directory) / "libcudart.so.13") ? directory
                                                                                         : std::string();
}

void enter_backend(char** argv) {
    const std::string backend = choose_backend();
    setenv("WORKBOOK_BACKEND", backend.c_str(), 1);
    const std::string library = emulator_library();
    if (const std::string given = environment_variable("EMULATOR_LIB");
        backend == "emulator" && !given.empty() && library.empty())
        throw std::runtime_error("the emulator's libcudart.so.13 is not in " + given +
                                 ": build it ('ninja' builds all)");
    const std::string search = environment_variable("LD_LIBRARY_PATH");
    if (backend != "emulator" || library.empty() || search == library || search.starts_with(library + ":"))
        return;
    setenv("LD_LIBRARY_PATH", search.empty() ? library.c_str() : (library + ":" + search).c_str(), 1);
    execv("/proc/self/exe", argv);
    throw std::system_error(errno, std::generic_category(), "starting the tests on the emulator");
}

} // namespace test_support
