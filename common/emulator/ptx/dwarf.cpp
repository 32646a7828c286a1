#include "ptx/dwarf.hpp"

#include "ptx/debug_bytes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace emu::ptx {
namespace {

constexpr std::size_t most_entries = std::size_t{1} << 21;
constexpr std::size_t deepest = 256;

/// Attributes (DWARF 4, 7.5.4).
enum Attribute : std::uint64_t {
    at_location = 0x02,
    at_name = 0x03,
    at_byte_size = 0x0b,
    at_bit_offset = 0x0c,
    at_bit_size = 0x0d,
    at_upper_bound = 0x2f,
    at_count = 0x37,
    at_data_member_location = 0x38,
    at_declaration = 0x3c,
    at_external = 0x3f,
    at_type = 0x49,
    at_data_bit_offset = 0x6b,
};

/// Reads numbers from bytes. Past the end everything is 0 and failed() is true.
class Reader {
  public:
    explicit Reader(const DebugBytes& section, std::uint64_t at = 0, std::uint64_t end = ~std::uint64_t{0})
        : section_(section), at_(at), end_(std::min<std::uint64_t>(end, section.bytes.size())) {}

    std::uint64_t at() const { return at_; }
    bool at_end() const { return at_ >= end_; }
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }

    std::uint64_t fixed(unsigned width) {
        std::uint64_t value = 0;
        if (!has(width))
            return 0;
        for (unsigned i = 0; i < width; ++i)
            value |= byte(at_ + i) << (8 * i);
        at_ += width;
        return value;
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; has(1); shift += 7) {
            const std::uint64_t next = byte(at_++);
            if (shift < 64)
                value |= (next & 0x7f) << shift;
            if (!(next & 0x80))
                return value;
        }
        return 0;
    }
    std::string text() {
        const std::size_t close = section_.bytes.find('\0', at_);
        if (close == std::string::npos || close >= end_) {
            fail();
            return {};
        }
        std::string text = section_.bytes.substr(at_, close - at_);
        at_ = close + 1;
        return text;
    }
    void skip(std::uint64_t count) {
        if (has(count))
            at_ += count;
    }
    /// The name that stands here in place of a number.
    const std::string* name() const {
        const auto found = section_.names.find(at_);
        return found == section_.names.end() ? nullptr : &found->second;
    }

  private:
    bool has(std::uint64_t count) {
        failed_ |= at_ > end_ || count > end_ - at_;
        return !failed_;
    }
    std::uint64_t byte(std::uint64_t at) const { return static_cast<unsigned char>(section_.bytes[at]); }

    const DebugBytes& section_;
    std::uint64_t at_, end_;
    bool failed_ = false;
};

struct Abbreviation {
    DwarfTag tag{};
    bool has_children = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes; ///< With their forms.
};
using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;

Abbreviations read_abbreviations(const DebugBytes& section, std::uint64_t at) {
    Abbreviations all;
    Reader reader(section, at);
    while (!reader.at_end()) {
        const std::uint64_t code = reader.uleb();
        if (code == 0)
            break;
        Abbreviation each;
        each.tag = static_cast<DwarfTag>(reader.uleb());
        each.has_children = reader.fixed(1) != 0;
        for (;;) {
            const std::uint64_t attribute = reader.uleb(), form = reader.uleb();
            if (reader.failed())
                return all;
            if (attribute == 0 && form == 0)
                break;
            each.attributes.emplace_back(attribute, form);
        }
        all.try_emplace(code, std::move(each));
    }
    return all;
}

/// The value of an attribute in whichever form it has.
struct Value {
    std::uint64_t number = 0; ///< Of a block that is an offset or an address: that.
    std::string text;         ///< A string, or the name of an address.
    bool is_known = true;
};

/// One `.debug_info` section.
class Units {
  public:
    Units(const DebugBytes& info, const DebugBytes& abbreviations, const DebugBytes& strings,
          std::vector<DwarfEntry>& entries)
        : info_(info), abbreviations_(abbreviations), strings_(strings), entries_(entries) {}

    void read() {
        for (std::uint64_t at = 0; at < info_.bytes.size();) {
            Reader header(info_, at);
            const std::uint64_t length = header.fixed(4);
            const std::uint64_t end = at + 4 + length;
            version_ = header.fixed(2);
            const std::uint64_t abbreviations_at = header.fixed(4);
            address_size_ = static_cast<unsigned>(header.fixed(1));
            if (header.failed() || version_ < 2 || version_ > 4 || address_size_ > 8)
                return;
            first_of_unit_ = at;
            const Abbreviations table = read_abbreviations(abbreviations_, abbreviations_at);
            Reader reader(info_, header.at(), end);
            tree(reader, table);
            at = end;
        }
        for (const auto& [index, offset] : types_)
            if (const auto found = by_offset_.find(offset); found != by_offset_.end())
                entries_[index].type = found->second;
    }

  private:
    void tree(Reader& reader, const Abbreviations& table) {
        std::vector<std::uint32_t> open;
        const auto close = [&] {
            entries_[open.back()].end = static_cast<std::uint32_t>(entries_.size());
            open.pop_back();
        };
        while (!reader.at_end() && !reader.failed() && entries_.size() < most_entries &&
               open.size() < deepest) {
            const std::uint64_t offset = reader.at();
            const std::uint64_t code = reader.uleb();
            if (code == 0) {
                if (!open.empty())
                    close();
                continue;
            }
            const auto found = table.find(code);
            if (found == table.end())
                break;
            const auto index = static_cast<std::uint32_t>(entries_.size());
            by_offset_.emplace(offset, index);
            entries_.push_back({});
            entries_.back().tag = found->second.tag;
            entries_.back().end = index + 1;
            for (const auto& [attribute, form] : found->second.attributes)
                note(index, attribute, value(reader, form));
            if (found->second.has_children)
                open.push_back(index);
        }
        while (!open.empty())
            close();
    }

    void note(std::uint32_t index, std::uint64_t attribute, const Value& value) {
        DwarfEntry& entry = entries_[index];
        if (attribute == at_name)
            entry.name = value.text;
        if (attribute == at_location)
            entry.symbol = value.text;
        if (!value.is_known)
            return;
        switch (attribute) {
        case at_type:
            types_.emplace_back(index, value.number);
            break;
        case at_byte_size:
            entry.byte_size = value.number;
            break;
        case at_count:
            entry.count = value.number;
            break;
        case at_upper_bound:
            entry.count = value.number + 1; // -1 for `x[]`
            break;
        case at_data_member_location:
            entry.member_offset = value.number;
            break;
        case at_bit_size:
            entry.bit_size = value.number;
            break;
        case at_bit_offset:
            entry.bit_offset = value.number;
            break;
        case at_data_bit_offset:
            entry.data_bit_offset = value.number;
            break;
        case at_declaration:
        case at_external:
            entry.is_declaration |= value.number != 0;
            break;
        }
    }

    /// An expression: a symbol's address alone, or an offset alone.
    Value expression(Reader& reader, std::uint64_t length) {
        constexpr std::uint64_t op_addr = 0x03, op_constu = 0x10, op_plus_uconst = 0x23;
        Value value;
        value.is_known = false;
        const std::uint64_t end = reader.at() + length;
        Reader inside(info_, reader.at(), end);
        reader.skip(length);
        if (reader.failed() || length == 0)
            return value;
        const std::uint64_t operation = inside.fixed(1);
        if (operation == op_addr) {
            const std::string* name = inside.name();
            value.number = inside.fixed(address_size_);
            if (name && value.number == 0 && inside.at_end())
                value.text = *name;
        } else if (operation == op_plus_uconst || operation == op_constu) {
            value.number = inside.uleb();
            value.is_known = !inside.failed() && inside.at_end();
        }
        return value;
    }

    Value string_at(Reader& reader) {
        const std::string* label = reader.name();
        std::uint64_t at = reader.fixed(4);
        if (const auto found = label ? strings_.labels.find(*label) : strings_.labels.end();
            found != strings_.labels.end())
            at += found->second;
        Reader text(strings_, at);
        Value value;
        value.text = text.text();
        return value;
    }

    /// Forms (DWARF 4, 7.5.4). References become offsets in the section.
    Value value(Reader& reader, std::uint64_t form) {
        switch (form) {
        case 0x01: // addr
            return {reader.fixed(address_size_), {}, false};
        case 0x03: // block2
            return expression(reader, reader.fixed(2));
        case 0x04: // block4
            return expression(reader, reader.fixed(4));
        case 0x09: // block
        case 0x18: // exprloc
            return expression(reader, reader.uleb());
        case 0x0a: // block1
            return expression(reader, reader.fixed(1));
        case 0x05: // data2
            return {reader.fixed(2), {}, true};
        case 0x06: // data4
        case 0x17: // sec_offset
            return {reader.fixed(4), {}, true};
        case 0x07: // data8
            return {reader.fixed(8), {}, true};
        case 0x08: // string
            return {0, reader.text(), true};
        case 0x0b: // data1
        case 0x0c: // flag
            return {reader.fixed(1), {}, true};
        case 0x0d: // sdata
            return signed_number(reader);
        case 0x0e: // strp
            return string_at(reader);
        case 0x0f: // udata
            return {reader.uleb(), {}, true};
        case 0x19: // flag_present
            return {1, {}, true};
        default:
            return reference(reader, form);
        }
    }

    Value reference(Reader& reader, std::uint64_t form) {
        switch (form) {
        case 0x10: // ref_addr; an address in version 2
            return {reader.fixed(version_ == 2 ? address_size_ : 4), {}, true};
        case 0x11: // ref1
            return {first_of_unit_ + reader.fixed(1), {}, true};
        case 0x12: // ref2
            return {first_of_unit_ + reader.fixed(2), {}, true};
        case 0x13: // ref4
            return {first_of_unit_ + reader.fixed(4), {}, true};
        case 0x14: // ref8
            return {first_of_unit_ + reader.fixed(8), {}, true};
        case 0x15: // ref_udata
            return {first_of_unit_ + reader.uleb(), {}, true};
        case 0x20: // ref_sig8
            return {reader.fixed(8), {}, false};
        default: // Its length is not known, nor where the next one begins.
            reader.fail();
            return {0, {}, false};
        }
    }

    static Value signed_number(Reader& reader) {
        const std::uint64_t before = reader.at();
        std::uint64_t bits = reader.uleb();
        const std::uint64_t width = 7 * (reader.at() - before);
        if (width > 0 && width < 64 && (bits >> (width - 1) & 1))
            bits |= ~std::uint64_t{0} << width;
        return {bits, {}, true};
    }

    const DebugBytes& info_;
    const DebugBytes& abbreviations_;
    const DebugBytes& strings_;
    std::vector<DwarfEntry>& entries_;
    std::uint64_t version_ = 0;
    unsigned address_size_ = 8;
    std::uint64_t first_of_unit_ = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> by_offset_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> types_;
};

/// The text of the section `name` that belongs to the one at `at`: modules that were linked have several of
/// each, one group behind the other.
std::string_view section_near(const Module& module, std::size_t at, std::string_view name) {
    const auto& all = module.debug_sections;
    for (std::size_t i = at; i-- > 0 && all[i].name != "debug_info";)
        if (all[i].name == name)
            return all[i].text;
    for (std::size_t i = at + 1; i < all.size() && all[i].name != "debug_info"; ++i)
        if (all[i].name == name)
            return all[i].text;
    return {};
}

} // namespace

std::vector<DwarfEntry> read_dwarf(const Module& module) {
    std::vector<DwarfEntry> entries;
    for (std::size_t i = 0; i < module.debug_sections.size(); ++i) {
        if (module.debug_sections[i].name != "debug_info")
            continue;
        const DebugBytes info = debug_bytes(module.debug_sections[i].text);
        const DebugBytes abbreviations = debug_bytes(section_near(module, i, "debug_abbrev"));
        const DebugBytes strings = debug_bytes(section_near(module, i, "debug_str"));
        Units(info, abbreviations, strings, entries).read();
    }
    return entries;
}

} // namespace emu::ptx
