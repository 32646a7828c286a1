/// @file judge.cu
/// The main of every judge: runs it and writes the verdict where the command looks for it.
///
/// The file that JUDGE_VERDICT names gets 'passed' or 'failed', the case, and the message, one line each. No
/// file, or one that begins with 'trying', means that the learner's code ended the process or never came
/// back.
#include "judge.hpp"

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

/// Writes the verdict to JUDGE_VERDICT, or to stdout where nobody set it.
void write(const std::string& word, const std::string& message) {
    const std::string text = word + "\n" + current_case + "\n" + message + "\n";
    const char* file = std::getenv("JUDGE_VERDICT");
    if (file == nullptr) {
        std::fputs(text.c_str(), stdout);
        return;
    }
    std::ofstream stream(file, std::ios::trunc);
    stream << text;
    if (!stream.flush())
        std::fprintf(stderr, "judge: cannot write %s\n", file);
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
    if (std::getenv("JUDGE_VERDICT") != nullptr)
        write("trying", ""); // stands there if nothing comes after it
}

} // namespace judge

int main() { return judge::judged() ? 0 : 1; }
