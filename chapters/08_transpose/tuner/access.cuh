/// @file access.cuh
/// The ways to read and write global memory that the tuner compares, and a few instructions of Hopper's.
///
/// Plain inline PTX and no libcu++: some seventy kernels are compiled. Sections are the PTX ISA's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tuner {

/// Forms of ld.global ('ld').
enum class Load {
    plain,
    no_allocate,
    ahead_128,
    ahead_256,
    hinted,
    hinted_128,
    hinted_alone,
    hinted_in_l1,
    streaming
};

/// Forms of st.global ('st'), and two ways past it.
enum class Store { plain, streaming, no_allocate, through, hinted, rows, tensor };

inline constexpr bool is_hinted(Load load) { return load >= Load::hinted && load <= Load::hinted_in_l1; }

inline constexpr const char* name_of(Load load) {
    constexpr const char* names[] = {"ld.nc",
                                     "ld.nc.L1::no_allocate",
                                     "ld.nc.L1::no_allocate.L2::128B",
                                     "ld.nc.L1::no_allocate.L2::256B",
                                     "ld.nc.L1::no_allocate.L2::cache_hint.L2::256B",
                                     "ld.nc.L1::no_allocate.L2::cache_hint.L2::128B",
                                     "ld.nc.L1::no_allocate.L2::cache_hint",
                                     "ld.nc.L2::cache_hint",
                                     "ld.cs"};
    return names[static_cast<int>(load)];
}

inline constexpr const char* name_of(Store store) {
    constexpr const char* names[] = {"st",
                                     "st.cs",
                                     "st.L1::no_allocate",
                                     "st.wt",
                                     "st.L1::no_allocate.L2::cache_hint",
                                     "bulk copy of each row",
                                     "tensor store"};
    return names[static_cast<int>(store)];
}

/// `words` words of 4 bytes that move together.
template <int words>
struct alignas(4 * words) Chunk {
    std::uint32_t at[words];
};

#define TUNER_LOAD4(FORM, ...)                                                                               \
    asm volatile("ld.global" FORM                                                                            \
                 : "=r"(chunk.at[0]), "=r"(chunk.at[1]), "=r"(chunk.at[2]), "=r"(chunk.at[3])                \
                 : "l"(from)__VA_OPT__(, ) __VA_ARGS__)

/// Reads 16 bytes in the given form.
template <Load form>
__device__ inline void load_chunk(Chunk<4>& chunk, const float* from, std::uint64_t policy) {
    if constexpr (form == Load::plain)
        TUNER_LOAD4(".nc.v4.u32 {%0, %1, %2, %3}, [%4];");
    else if constexpr (form == Load::no_allocate)
        TUNER_LOAD4(".nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];");
    else if constexpr (form == Load::ahead_128)
        TUNER_LOAD4(".nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];");
    else if constexpr (form == Load::ahead_256)
        TUNER_LOAD4(".nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];");
    else if constexpr (form == Load::hinted)
        TUNER_LOAD4(".nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4], %5;",
                    "l"(policy));
    else if constexpr (form == Load::hinted_128)
        TUNER_LOAD4(".nc.L1::no_allocate.L2::cache_hint.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4], %5;",
                    "l"(policy));
    else if constexpr (form == Load::hinted_alone)
        TUNER_LOAD4(".nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;", "l"(policy));
    else if constexpr (form == Load::hinted_in_l1)
        TUNER_LOAD4(".nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;", "l"(policy));
    else
        TUNER_LOAD4(".cs.v4.u32 {%0, %1, %2, %3}, [%4];");
}

/// Reads 8 or 4 bytes; two forms and one.
template <Load form>
__device__ inline void load_chunk(Chunk<2>& chunk, const float* from, std::uint64_t policy) {
    static_assert(form == Load::plain || form == Load::hinted_in_l1);
    if constexpr (form == Load::plain)
        asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];"
                     : "=r"(chunk.at[0]), "=r"(chunk.at[1])
                     : "l"(from));
    else
        asm volatile("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(chunk.at[0]), "=r"(chunk.at[1])
                     : "l"(from), "l"(policy));
}
template <Load form>
__device__ inline void load_chunk(Chunk<1>& chunk, const float* from, std::uint64_t) {
    static_assert(form == Load::plain);
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(chunk.at[0]) : "l"(from));
}

#define TUNER_STORE4(FORM, ...)                                                                              \
    asm volatile("st.global" FORM ::"l"(to), "r"(chunk.at[0]), "r"(chunk.at[1]), "r"(chunk.at[2]),           \
                 "r"(chunk.at[3])__VA_OPT__(, ) __VA_ARGS__                                                  \
                 : "memory")

/// Writes 16 bytes in the given form.
template <Store form>
__device__ inline void store_chunk(const Chunk<4>& chunk, float* to, std::uint64_t policy) {
    if constexpr (form == Store::plain)
        TUNER_STORE4(".v4.u32 [%0], {%1, %2, %3, %4};");
    else if constexpr (form == Store::streaming)
        TUNER_STORE4(".cs.v4.u32 [%0], {%1, %2, %3, %4};");
    else if constexpr (form == Store::no_allocate)
        TUNER_STORE4(".L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};");
    else if constexpr (form == Store::through)
        TUNER_STORE4(".wt.v4.u32 [%0], {%1, %2, %3, %4};");
    else
        TUNER_STORE4(".L1::no_allocate.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;", "l"(policy));
}

/// Writes 8 or 4 bytes; only the plain form.
template <Store form>
__device__ inline void store_chunk(const Chunk<2>& chunk, float* to, std::uint64_t) {
    static_assert(form == Store::plain);
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(chunk.at[0]), "r"(chunk.at[1]) : "memory");
}
template <Store form>
__device__ inline void store_chunk(const Chunk<1>& chunk, float* to, std::uint64_t) {
    static_assert(form == Store::plain);
    asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(chunk.at[0]) : "memory");
}
#undef TUNER_LOAD4
#undef TUNER_STORE4

/// A square of words in registers.
template <int words>
struct MicroTile {
    Chunk<words> chunks[words];

    __device__ void turn() {
#pragma unroll
        for (int i = 0; i < words; ++i)
#pragma unroll
            for (int j = 0; j < i; ++j) {
                const std::uint32_t upper = chunks[j].at[i];
                chunks[j].at[i] = chunks[i].at[j];
                chunks[i].at[j] = upper;
            }
    }

    /// Puts the chunk that was read i-th to its place i ^ key, for keys of 0 to words - 1.
    __device__ void exchange(int key) {
#pragma unroll
        for (int bit = 1; bit < words; bit *= 2)
#pragma unroll
            for (int i = 0; i < words; ++i)
                if ((i & bit) == 0)
#pragma unroll
                    for (int w = 0; w < words; ++w) {
                        const std::uint32_t a = chunks[i].at[w];
                        const std::uint32_t b = chunks[i | bit].at[w];
                        chunks[i].at[w] = key & bit ? b : a;
                        chunks[i | bit].at[w] = key & bit ? a : b;
                    }
    }
};

__device__ inline std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// Generic writes before it are seen by the async proxy ('membar.proxy / fence.proxy').
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// All but the last `pending` groups of this thread have read their shared memory.
template <int pending>
__device__ inline void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

/// Copies bytes from shared to global memory ('cp.async.bulk').
__device__ inline void bulk_store(float* to, const void* from, std::uint32_t bytes, std::uint64_t policy) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes), "l"(policy)
                 : "memory");
}

} // namespace tuner
