/// \file
/// Prints the catalogue of findings: all of them as JSON, one object a line, or those that are named, for a
/// reader.

#include "hopper_emulator/catalogue.hpp"

#include <iostream>
#include <string>
#include <string_view>

namespace {

/// `text` as a JSON string. The catalogue is ASCII, so that only the two marks need an escape.
std::string json(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

void print_json(const emu::CatalogueEntry& entry) {
    std::cout << "{\"name\":" << json(entry.name) << ",\"title\":" << json(entry.title)
              << ",\"explanation\":" << json(entry.explanation) << ",\"cause\":" << json(entry.cause)
              << ",\"remedy\":" << json(entry.remedy) << ",\"unseen\":" << json(entry.unseen) << "}\n";
}

void print_text(const emu::CatalogueEntry& entry) {
    std::cout << entry.name << ": " << entry.title << "\n\n"
              << entry.explanation << "\n\n"
              << "Causes: " << entry.cause << "\n\n"
              << "What to do: " << entry.remedy << '\n';
    if (!entry.unseen.empty())
        std::cout << "\nNot seen: " << entry.unseen << '\n';
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 1) {
        for (const emu::CatalogueEntry& entry : emu::catalogue())
            print_json(entry);
        return 0;
    }
    for (int i = 1; i < argc; ++i) {
        const emu::CatalogueEntry* entry = emu::find_in_catalogue(argv[i]);
        if (entry == nullptr) {
            std::cerr << "catalogue: the emulator has no finding '" << argv[i]
                      << "'; without a name this program lists all\n";
            return 2;
        }
        print_text(*entry);
    }
    return 0;
}
