/// @file main.cpp
/// The main of every judge: runs it and writes the verdict where the command looks for it.
///
/// Usage: judge FILE.ptx. The file that JUDGE_VERDICT names gets JUDGE_TOKEN, which no other process knows,
/// then 'passed' or 'failed', the case, and the message, one line each. No file, or one that says 'trying',
/// means that the process ended before there was a verdict.
#include "judge.hpp"
#include "kept.hpp"
#include "program.hpp"

#include "workbook/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <string>

namespace judge {
namespace {

std::string current_case; // NOLINT: one process judges one exercise

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Writes the verdict to JUDGE_VERDICT, or to stdout where nobody set it.
void write(const std::string& word, const std::string& message) {
    const std::string text = word + "\n" + current_case + "\n" + message + "\n";
    const std::string file = environment("JUDGE_VERDICT");
    if (file.empty()) {
        std::fputs(text.c_str(), stdout);
        return;
    }
    std::ofstream stream(file, std::ios::trunc);
    stream << environment("JUDGE_TOKEN") << "\n" << text;
    if (!stream.flush())
        std::fprintf(stderr, "judge: cannot write %s\n", file.c_str());
}

/// Runs the judge; true if nothing was wrong.
bool judged() {
    try {
        run();
        workbook::synchronize("the last kernel");
        write("passed", "");
        return true;
    } catch (const workbook::CudaError& error) {
        write(workbook::is_sticky(error.code()) ? "stopped" : "failed",
              std::string(cudaGetErrorName(error.code())) + ": " + cudaGetErrorString(error.code()) + "\n" +
                  error.what());
    } catch (const std::bad_alloc&) {
        write("failed", "Your launch function asked for more host memory than there is.");
    } catch (const Failure& failure) {
        write("failed", failure.what());
    } catch (const std::exception& error) {
        write("failed", std::string("Your launch function threw an exception: ") + error.what());
    }
    return false;
}

} // namespace

void trying(const std::string& what) {
    current_case = what;
    forget_kept();
    if (!environment("JUDGE_VERDICT").empty())
        write("trying", ""); // stands there if nothing comes after it
}

} // namespace judge

int main(int count, char** arguments) {
    if (count > 1)
        judge::use_program(arguments[1]);
    return judge::judged() ? 0 : 1;
}
