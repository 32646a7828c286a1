#include "matrix_forms.hpp"

#include <cstdio>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace hardware {

namespace {

/// The first register of each operand.
constexpr unsigned first_d = 100, first_a = 200, first_b = 250, metadata = 300, first_c = 400;

std::string list(const RegisterList& registers, unsigned first) {
    std::string text = "{";
    for (unsigned i = 0; i < registers.count; ++i)
        text += (i ? ", %" : "%") + std::string(1, registers.kind) + std::to_string(first + i);
    return text + "}";
}

RegisterList registers(const std::string& text) {
    RegisterList list;
    if (text.empty() || std::sscanf(text.c_str(), "%u%c", &list.count, &list.kind) != 2)
        throw std::runtime_error("'" + text + "' is no number of registers with their kind");
    return list;
}

/// Each thread's words of one operand after the other, [register][thread].
class Words {
  public:
    Words(std::ostream& out, const MatrixForm& form) : out_(out), threads_(form.threads()) {}

    void load(const RegisterList& registers, unsigned first) { move("ld", registers, first, "%x1"); }
    void store(const RegisterList& registers, unsigned first) { move("st", registers, first, "%x2"); }
    unsigned passed() const { return words_; }

  private:
    void move(std::string_view opcode, const RegisterList& registers, unsigned first, std::string_view base) {
        const unsigned words = registers.kind == 'd' ? 2 : 1;
        out_ << "mul.wide.u32 %x4, %t1, " << 4 * words << "; add.u64 %x4, %x4, " << base << ";\n";
        for (unsigned i = 0; i < registers.count; ++i, words_ += threads_ * words) {
            const std::string name = "%" + std::string(1, registers.kind) + std::to_string(first + i);
            const std::string place = "[%x4+" + std::to_string(4 * words_) + "]";
            out_ << opcode << ".global.b" << 32 * words << ' '
                 << (opcode == "ld" ? name + ", " + place : place + ", " + name) << ";\n";
        }
    }

    std::ostream& out_;
    unsigned threads_, words_ = 0;
};

constexpr std::string_view head = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                                  ".entry k(.param .u64 in, .param .u64 out) {\n"
                                  ".reg .b32 %r<700>; .reg .f32 %f<700>; .reg .b64 %d<700>; .reg .b64 "
                                  "%x<20>; .reg .b32 %t<10>; .reg .pred %p<4>;\n"
                                  "ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out]; cvta.to.global.u64 %x1, "
                                  "%x1; cvta.to.global.u64 %x2, %x2;\n"
                                  "mov.u32 %t1, %tid.x; mov.u32 %t2, %ctaid.x;\n";

} // namespace

MatrixForm::MatrixForm(const std::string& text) {
    std::istringstream words(text);
    const std::vector<std::string> parts(std::istream_iterator<std::string>(words), {});
    load = text.starts_with("wmma.load");
    if (parts.size() < (load ? 3 : 6))
        throw std::runtime_error("'" + text + "' is no form of an instruction");
    opcode = parts[0];
    d = registers(parts[1]);
    if (!load) {
        a = registers(parts[2]);
        b = registers(parts[3]);
        c = registers(parts[4]);
        sparse = parts[5] == "sp";
        tail = parts.size() > 6 && parts[6] != "-" ? parts[6] : "";
    }
    read_types();
}

void MatrixForm::read_types() {
    constexpr std::string_view names[] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2",
                                          "s8",  "u8",   "s4",   "u4",  "b1",  "s32"};
    std::vector<MatrixType> types;
    std::istringstream parts(opcode);
    for (std::string part; std::getline(parts, part, '.');) {
        if (part.size() > 5 && part[0] == 'm')
            std::sscanf(part.c_str(), "m%un%uk%u", &m, &n, &k);
        for (unsigned i = 0; i < std::size(names); ++i)
            if (part == names[i])
                types.push_back(static_cast<MatrixType>(i));
    }
    if (types.empty() || types.size() > 4 || k == 0)
        throw std::runtime_error("'" + opcode + "' has no shape, or no types");
    // Four types are D, A, B, C; three are D or C, A, B; two are D and C of f16; one is that of a load.
    type_d = types.front();
    type_c = types.size() == 3 ? types.front() : types.back();
    type_a = types.size() == 1 ? types[0] : types.size() == 2 ? MatrixType::f16 : types[1];
    type_b = types.size() > 2 ? types[2] : type_a;
}

unsigned MatrixForm::shared_words() const {
    if (!is_wgmma())
        return 0;
    const unsigned bytes = 64 * 32 + n * k * bits_of(type_b) / 8;
    return (bytes + 511) / 512 * 512 / 4;
}

unsigned MatrixForm::input_words() const {
    return threads() * (c.words() + a.words() + b.words() + sparse) + shared_words();
}

/// Tiles without swizzle: 8 lines of 16 bytes, in k 128 bytes times the lines' number / 8 apart.
std::string MatrixForm::prepare_wgmma(unsigned first_word) const {
    std::ostringstream out;
    out << "mul.wide.u32 %x4, %t1, 4; add.u64 %x4, %x4, %x1; mov.u64 %x5, tiles; cvt.u32.u64 %t3, %x5;\n"
           "shl.b32 %t4, %t1, 2; add.u32 %t3, %t3, %t4;\n";
    for (unsigned word = 0; word < shared_words(); word += threads())
        out << "ld.global.b32 %t5, [%x4+" << 4 * (first_word + word) << "]; st.shared.b32 [%t3+" << 4 * word
            << "], %t5;\n";
    out << "fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n"
           "shr.u64 %x6, %x5, 4; and.b64 %x6, %x6, 0x3fff; setp.eq.u32 %p1, 1, 1;\n";
    const auto descriptor = [&out](std::string_view name, unsigned start, std::uint64_t in_k) {
        out << "add.u64 " << name << ", %x6, " << start / 16 << "; or.b64 " << name << ", " << name << ", "
            << ((in_k >> 4) << 16 | std::uint64_t{128 >> 4} << 32) << ";\n";
    };
    descriptor("%d1", 0, 1024);
    descriptor("%d2", 4 * shared_words_of_a(), std::uint64_t{16} * n);
    return out.str();
}

std::string MatrixForm::load_ptx() const {
    // A, C by rows: as many elements from line to line as there are columns.
    const bool is_a = opcode.starts_with("wmma.load.a"), is_b = opcode.starts_with("wmma.load.b");
    const unsigned rows = is_b ? k : m, columns = is_a ? k : n;
    const bool by_row = opcode.find(".row.") != std::string::npos;
    std::ostringstream out;
    out << head << opcode << ' ' << list(d, first_d) << ", [%x1], " << (by_row ? columns : rows) << ";\n";
    Words(out, *this).store(d, first_d);
    out << "ret; }\n";
    return out.str();
}

std::string MatrixForm::ptx() const {
    if (load)
        return load_ptx();
    std::ostringstream out;
    out << head;
    if (is_wgmma())
        out << ".shared .align 1024 .b8 tiles[" << 4 * shared_words() << "];\n";
    out << "mul.wide.u32 %x3, %t2, " << 4 * input_words() << "; add.u64 %x1, %x1, %x3;\n"
        << "mul.wide.u32 %x3, %t2, " << 4 * output_words() << "; add.u64 %x2, %x2, %x3;\n";
    Words inputs(out, *this);
    inputs.load(c, first_c);
    inputs.load(a, first_a);
    inputs.load(b, first_b);
    if (sparse)
        inputs.load({1, 'r'}, metadata);
    const std::string sparsity = sparse ? ", %r" + std::to_string(metadata) + ", 0" : "";
    if (is_wgmma())
        out << prepare_wgmma(inputs.passed()) << opcode << ' ' << list(c, first_c) << ", "
            << (a.count ? list(a, first_a) : "%d1") << ", %d2" << sparsity << ", %p1" << tail
            << ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
    else
        out << opcode << ' ' << list(d, first_d) << ", " << list(a, first_a) << ", " << list(b, first_b)
            << ", " << list(c, first_c) << sparsity << ";\n";
    Words(out, *this).store(d, is_wgmma() ? first_c : first_d);
    out << "ret; }\n";
    return out.str();
}

} // namespace hardware
