#include "ptx/module.hpp"

#include <algorithm>
#include <array>

namespace emu::ptx {

namespace {

template <typename List>
std::int64_t index_by_name(const List& list, std::string_view name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
    return found == list.end() ? -1 : found - list.begin();
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// Directories that only an installed toolkit (or a copy of its C++ libraries) has, wherever it is installed.
constexpr std::array toolkit_directories = {
    std::string_view("/targets/x86_64-linux/include/"),
    std::string_view("/targets/sbsa-linux/include/"),
    std::string_view("/targets/aarch64-linux/include/"),
    std::string_view("/include/cccl/"),
    std::string_view("/include/cuda/std/"),
    std::string_view("/include/cuda/__"),
    std::string_view("/include/cooperative_groups/"),
    std::string_view("/cooperative_groups/details/"),
    std::string_view("/include/crt/"),
    std::string_view("/include/thrust/detail/"),
    std::string_view("/include/thrust/system/"),
    std::string_view("/include/cub/"),
    std::string_view("/nvidia/cu13/include/"),
    std::string_view("/nvidia/cuda_runtime/include/"),
};

/// Headers that lie directly in the toolkit's include directory; a name ending in '*' is a prefix.
constexpr std::array toolkit_headers = {
    std::string_view("cooperative_groups.h"),
    std::string_view("cuda_awbarrier*"),
    std::string_view("cuda_bf16*"),
    std::string_view("cuda_fp*"),
    std::string_view("cuda_pipeline*"),
    std::string_view("cuda_runtime*"),
    std::string_view("cuda_device_runtime*"),
    std::string_view("device_atomic_functions*"),
    std::string_view("device_functions*"),
    std::string_view("math_functions*"),
    std::string_view("sm_20_*"),
    std::string_view("sm_30_intrinsics*"),
    std::string_view("sm_32_*"),
    std::string_view("sm_35_*"),
    std::string_view("sm_60_atomic*"),
    std::string_view("sm_61_intrinsics*"),
    std::string_view("texture_indirect*"),
    std::string_view("vector_functions*"),
    std::string_view("vector_types.h"),
};

bool is_toolkit_header(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || !path.substr(0, slash).ends_with("/include"))
        return false;
    const std::string_view file = path.substr(slash + 1);
    return std::any_of(toolkit_headers.begin(), toolkit_headers.end(), [&](std::string_view known) {
        return known.ends_with('*') ? file.starts_with(known.substr(0, known.size() - 1)) : file == known;
    });
}

/// "/usr/local/cuda/include/…" and "/usr/local/cuda-13.0/include/…", but no other directory below.
bool is_default_installation(std::string_view path) {
    constexpr std::string_view root = "/usr/local/cuda";
    if (!path.starts_with(root))
        return false;
    path.remove_prefix(root.size());
    if (path.starts_with('-'))
        path.remove_prefix(std::min(path.find_first_not_of("0123456789.", 1), path.size()));
    return path.starts_with("/include/");
}

} // namespace

std::int64_t Module::find_function(std::string_view name) const {
    const std::int64_t index = index_by_name(functions, name);
    if (index >= 0 && functions[static_cast<std::size_t>(index)].alias_of >= 0)
        return functions[static_cast<std::size_t>(index)].alias_of;
    return index;
}

std::int64_t Module::find_variable(std::string_view name) const { return index_by_name(variables, name); }

const Location& Module::reader_location(std::uint32_t index) const {
    static const Location unknown;
    if (locations.empty())
        return unknown;
    const Location* at = index < locations.size() ? &locations[index] : &locations[0];
    for (;;) {
        const bool has_file = at->file < files.size() && !files[at->file].empty();
        const bool has_line = at->line != 0 || at->inlined_at == 0;
        if ((has_file && has_line && !is_toolkit_file(files[at->file])) || at->inlined_at == 0)
            return *at;
        at = &locations[at->inlined_at];
    }
}

bool is_toolkit_file(std::string_view path) {
    if (path.starts_with("/usr/include/") || path.starts_with("/usr/lib/"))
        return true;
    if (is_default_installation(path))
        return true;
    const bool in_directory =
        std::any_of(toolkit_directories.begin(), toolkit_directories.end(),
                    [&](std::string_view directory) { return contains(path, directory); });
    return in_directory || is_toolkit_header(path);
}

} // namespace emu::ptx
