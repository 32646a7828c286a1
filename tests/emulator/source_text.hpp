#pragma once
/// \file
/// The emulator's own source, for tests that look at it.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace emu::test {

/// C++ without its comments: each is replaced by blanks, line ends stay.
inline std::string without_comments(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"' || text[i] == '\'') {
            const char quote = text[i];
            for (++i; i < text.size() && text[i] != quote; ++i)
                i += text[i] == '\\' ? 1u : 0u;
            continue;
        }
        const bool line = text.compare(i, 2, "//") == 0, block = text.compare(i, 2, "/*") == 0;
        if (!line && !block)
            continue;
        const std::size_t end = line ? text.find('\n', i) : text.find("*/", i) + 2;
        for (; i < std::min(end, text.size()); ++i)
            text[i] = text[i] == '\n' ? '\n' : ' ';
    }
    return text;
}

/// All headers and sources below a folder of the emulator, without comments, by their path there.
inline std::map<std::string, std::string> sources_in(const std::string& folder) {
    const std::filesystem::path root = std::filesystem::path(EMULATOR_SOURCE) / folder;
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp")
            continue;
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        all[entry.path().lexically_relative(root).string()] = without_comments(text.str());
    }
    return all;
}

/// A string, adjacent literals joined, and the statement in front of it.
struct Literal {
    std::string text;
    std::string before; ///< From the last ';', '{' or '}' on.
    std::size_t end = 0;
};

/// The strings of a source without comments; those of #include are left out.
inline std::vector<Literal> literals_of(const std::string& source) {
    std::vector<Literal> all;
    const auto skip_blanks = [&](std::size_t i) {
        while (i < source.size() && std::isspace(static_cast<unsigned char>(source[i])))
            ++i;
        return i;
    };
    for (std::size_t i = 0; i < source.size();) {
        if (source[i] == '\'') { // A character, or a separator of digits.
            i += source.compare(i + 1, 1, "\\") == 0 ? 4 : source.compare(i + 2, 1, "'") == 0 ? 3 : 1;
            continue;
        }
        if (source[i] != '"') {
            ++i;
            continue;
        }
        const std::size_t start = source.find_last_of(";{}", i) + 1;
        Literal found{{}, source.substr(start, i - start), 0};
        while (i < source.size() && source[i] == '"') {
            for (++i; i < source.size() && source[i] != '"'; ++i) {
                if (source[i] == '\\')
                    found.text += source[i++];
                found.text += source[i];
            }
            found.end = ++i;
            i = skip_blanks(i);
        }
        if (found.before.find("#include") == std::string::npos)
            all.push_back(std::move(found));
        i = found.end;
    }
    return all;
}

} // namespace emu::test
