#include "kernel.hpp"

#include "entries.hpp"
#include "judge.hpp"
#include "program.hpp"

#include "workbook/check.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace judge {
namespace {

std::string file_name; // NOLINT: one process judges one file

/// The module that CUDA makes of the file. Loaded once, and never unloaded: the process ends with it.
cudaLibrary_t library() {
    static const cudaLibrary_t loaded = [] {
        cudaLibrary_t made = nullptr;
        workbook::check(
            cudaLibraryLoadFromFile(&made, file_name.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "loading the compiled kernels");
        return made;
    }();
    return loaded;
}

std::string listed(const std::vector<Entry>& kernels) {
    std::string text;
    for (const Entry& kernel : kernels)
        text += (text.empty() ? "" : ", ") + plain_name(kernel.symbol);
    return text.empty() ? "none" : text;
}

/// 'void (float*)' and 'name' make 'name(float*)'.
std::string declared(const std::string& name, const std::string& signature) {
    return name + signature.substr(std::min(signature.find('('), signature.size()));
}

} // namespace

void use_program(const std::string& ptx_file) { file_name = ptx_file; }

std::string program_text() {
    std::ifstream stream(file_name, std::ios::binary);
    if (!stream)
        throw std::logic_error("there is no file of compiled kernels: '" + file_name + "'");
    return {std::istreambuf_iterator<char>(stream), {}};
}

const void* find_kernel(const std::string& name, std::span<const std::size_t> sizes, const char* signature) {
    const std::string text = program_text();
    const std::vector<Entry> kernels = entries(text);
    const auto found =
        std::ranges::find_if(kernels, [&](const Entry& entry) { return plain_name(entry.symbol) == name; });
    if (found == kernels.end())
        fail("Your file has no kernel `" + name + "` (kernels in it: " + listed(kernels) +
             ").\nThe judge looks for it by that name, outside of any namespace.");
    if (!std::ranges::equal(found->sizes, sizes))
        fail("The parameters of `" + name + "` are not those that the judge passes.\nIt must be " +
             declared(name, demangled(signature)) + ", and is " + demangled(found->symbol) + ".");
    cudaKernel_t kernel = nullptr;
    workbook::check(cudaLibraryGetKernel(&kernel, library(), found->symbol.c_str()), "looking for " + name);
    return reinterpret_cast<const void*>(kernel);
}

} // namespace judge
