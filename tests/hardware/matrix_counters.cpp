// Instructions that move matrices in shared memory, each in a kernel of its own: what counters.py compares.

#include <workbook/check.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using workbook::check;

/// A kernel, named after what it does. Its results are stored only where its parameter is not null: it never
/// is, but the assembler cannot know.
struct Case {
    std::string name, registers, body, result;
    unsigned threads = 32;

    std::string ptx() const {
        return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry " + name +
               "(.param .u64 results) {\n"
               ".shared .align 1024 .b8 tile[49152];\n.reg .pred %p;\n.reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n" +
               registers +
               "ld.param.u64 %rd0, [results];\nmov.u32 %r7, %tid.x;\nmov.u32 %r6, tile;\nmov.u32 %r0, 0;\n"
               "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n" +
               body + "setp.ne.u64 %p, %rd0, 0;\n@%p st.global.b32 [%rd0], " + result + ";\nret;\n}\n";
    }
};

/// Rows of eight 16-bit elements, `pitch` bytes apart.
Case move_of_matrices(bool load, unsigned matrices, bool across, unsigned pitch) {
    std::string list;
    for (unsigned i = 0; i < matrices; ++i)
        list += (i ? ", %r" : "%r") + std::to_string(i);
    const std::string kind =
        ".sync.aligned.m8n8.x" + std::to_string(matrices) + (across ? ".trans" : "") + ".shared.b16 ";
    const std::string address = "mad.lo.u32 %r5, %r7, " + std::to_string(pitch) + ", %r6;\n";
    return {std::string(load ? "ldmatrix" : "stmatrix") + "_x" + std::to_string(matrices) +
                (across ? "_trans" : "") + "_pitch_" + std::to_string(pitch),
            "",
            address + (load ? "ldmatrix" + kind + "{" + list + "}, [%r5];\n"
                            : "stmatrix" + kind + "[%r5], {" + list + "};\n"),
            "%r0"};
}

/// Where the operands of a wgmma lie.
struct Layout {
    const char* name;
    unsigned leading, stride, swizzle; ///< Bytes, and bits 62 and 63 of the descriptor.
};
struct Type {
    const char *name, *shape, *types, *tail;
    unsigned a_registers = 0; ///< 0: A lies in shared memory.
    bool sparse = false;
};

Case product(const Type& type, unsigned n, const Layout& layout) {
    std::string d;
    for (unsigned i = 0; i < n / 2; ++i)
        d += (i ? ", %f" : "%f") + std::to_string(i);
    const unsigned long long fields = static_cast<unsigned long long>(layout.leading >> 4) << 16 |
                                      static_cast<unsigned long long>(layout.stride >> 4) << 32 |
                                      static_cast<unsigned long long>(layout.swizzle) << 62;
    std::string body = "cvt.u64.u32 %rd1, %r6;\nshr.u64 %rd1, %rd1, 4;\nor.b64 %rd1, %rd1, " +
                       std::to_string(static_cast<long long>(fields)) + ";\n";
    for (unsigned i = 0; i < n / 2; ++i)
        body += "mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
    body += std::string("wgmma.fence.sync.aligned;\nwgmma.mma_async") + (type.sparse ? ".sp" : "") +
            ".sync.aligned.m64n" + std::to_string(n) + type.shape + ".f32." + type.types + " {" + d + "}, " +
            (type.a_registers ? "{%r0, %r1, %r2, %r3}" : "%rd1") + ", %rd1, " +
            (type.sparse ? "%r0, 0, " : "") + "1, 1, 1" + type.tail +
            ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    return {"wgmma_n" + std::to_string(n) + "_" + type.name + "_" + layout.name,
            ".reg .f32 %f<" + std::to_string(n / 2) + ">;\n", body, "%f0", 128};
}

/// One mma: its name here, its modifiers, and the registers of A, B and D (which is C too).
struct Mma {
    const char *name, *modifiers;
    unsigned a, b, d;
    char registers = 'r'; ///< Of D: r, f (float), d (double: A and B too).
    bool sparse = false;
};

Case product(const Mma& mma) {
    const auto list = [](char prefix, unsigned first, unsigned count) {
        std::string text = "{";
        for (unsigned i = 0; i < count; ++i)
            text += std::string(i ? ", %" : "%") + prefix + std::to_string(first + i);
        return text + "}";
    };
    const bool doubles = mma.registers == 'd';
    const std::string d = list(mma.registers, 0, mma.d);
    // C begins as zeros; A and B do not, or the assembler leaves out what it knows to be none.
    std::string zeros;
    for (unsigned i = 0; i < mma.d && mma.registers != 'r'; ++i)
        zeros += "mov.b" + std::string(doubles ? "64 %d" : "32 %f") + std::to_string(i) + ", 0;\n";
    for (unsigned i = 0; i < mma.a && doubles; ++i)
        zeros += "cvt.rn.f64.u32 %d" + std::to_string(16 + i) + ", %r7;\n";
    const std::string a = doubles ? list('d', 16, mma.a) : list('q', 0, mma.a);
    const std::string b = doubles ? list('d', 16, mma.b) : list('q', 0, mma.b);
    for (unsigned i = 0; i < 4; ++i)
        zeros += "add.u32 %q" + std::to_string(i) + ", %r7, " + std::to_string(i) + ";\n";
    const std::string body = zeros + "mma" + (mma.sparse ? ".sp" : "") + ".sync.aligned." + mma.modifiers +
                             " " + d + ", " + a + ", " + b + ", " + d + (mma.sparse ? ", %r0, 0" : "") +
                             ";\n" + (doubles ? "cvt.rn.f32.f64 %f0, %d0;\n" : "");
    return {std::string("mma_") + mma.name, ".reg .f32 %f<8>;\n.reg .b32 %q<4>;\n.reg .f64 %d<24>;\n", body,
            mma.registers == 'r' ? "%r0" : "%f0"};
}

constexpr Mma products[] = {
    {"f16", "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 'f'},
    {"f16_k8", "m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 'f'},
    {"f16_f16", "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2},
    {"f16_quads", "m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, 'f'},
    {"f16_sparse", "m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 'f', true},
    {"bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 'f'},
    {"tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 'f'},
    {"tf32_k4", "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 'f'},
    {"f64", "m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, 'd'},
    {"f64_m16", "m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, 'd'},
    {"e4m3", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, 'f'},
    {"s8", "m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4},
    {"s8_k16", "m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2},
    {"s4", "m16n8k64.row.col.s32.s4.s4.s32", 4, 2, 4},
    {"b1", "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4},
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Mma& mma : products)
        all.push_back(product(mma));
    for (const bool load : {true, false})
        for (const unsigned pitch : {16u, 32u, 64u, 128u, 144u})
            for (const unsigned matrices : {1u, 2u, 4u})
                for (const bool across : {false, true})
                    all.push_back(move_of_matrices(load, matrices, across, pitch));
    constexpr Layout layouts[] = {{"none", 128, 256, 0},
                                  {"none_apart", 512, 1024, 0},
                                  {"32B", 16, 256, 3},
                                  {"64B", 16, 512, 2},
                                  {"128B", 16, 1024, 1}};
    constexpr Type types[] = {{"bf16", "k16", "bf16.bf16", ", 0, 0"},
                              {"bf16_mn", "k16", "bf16.bf16", ", 1, 1"},
                              {"bf16_registers", "k16", "bf16.bf16", ", 0", 4},
                              {"bf16_sparse", "k32", "bf16.bf16", ", 0, 0", 0, true},
                              {"e4m3", "k32", "e4m3.e4m3", ""},
                              {"tf32", "k8", "tf32.tf32", ""}};
    for (const Type& type : types)
        for (const Layout& layout : layouts)
            for (const unsigned n : {8u, 24u, 64u, 256u})
                all.push_back(product(type, n, layout));
    return all;
}

void run(const Case& c) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryLoadData(&library, c.ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          c.name.c_str());
    check(cudaLibraryGetKernel(&kernel, library, c.name.c_str()), c.name.c_str());
    std::uint32_t* results = nullptr;
    void* arguments[] = {&results};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(c.threads), arguments, 0,
                           nullptr),
          c.name.c_str());
    check(cudaDeviceSynchronize(), c.name.c_str());
    check(cudaLibraryUnload(library), c.name.c_str());
}

} // namespace

int main() {
    try {
        for (const Case& c : cases())
            run(c);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "matrix_counters: %s\n", error.what());
        return 1;
    }
}
