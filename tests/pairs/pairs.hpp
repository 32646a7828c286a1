#pragma once
/// \file
/// Pairs: a kernel with one mistake, and its least different correct twin. A program holds the pairs of one
/// style of code; it lists them, or runs one variant of one of them:
///
///     PROGRAM --list                      one line of JSON for each pair
///     PROGRAM NAME twin|broken            0: the result is right, 1: it is wrong, 2: the call is
///
/// pairs.py runs them on the emulator: the twin must be right and silent in every order, the broken kernel
/// must be reported with `finding`, in the words `says` (its cause) and `remedy`, or as one of `also`: which
/// of two threads comes first may decide what a mistake leads to.

#include "workbook/random.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace pairs {

/// Whoever calls it wrongly, or a CUDA call that fails outside a kernel, ends the program with 2.
inline void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
}

/// Memory on the device: a copy of `host`, or `count` elements filled with 0x5a so that forgotten outputs are
/// seen.
template <class T>
class Device {
  public:
    explicit Device(std::span<const T> host) : size_(host.size()) {
        check(cudaMalloc(&data_, bytes()), "cudaMalloc");
        check(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    explicit Device(const std::vector<T>& host) : Device(std::span<const T>(host)) {}
    explicit Device(std::size_t count) : size_(count) {
        check(cudaMalloc(&data_, bytes()), "cudaMalloc");
        check(cudaMemset(data_, 0x5a, bytes()), "cudaMemset");
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(data_); }

    T* data() { return data_; }
    /// What the kernel left; empty if the kernel failed.
    std::vector<T> read() const {
        std::vector<T> host(size_);
        if (cudaDeviceSynchronize() != cudaSuccess ||
            cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost) != cudaSuccess)
            host.clear();
        return host;
    }

  private:
    std::size_t bytes() const { return size_ * sizeof(T); }
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Random numbers that no two kernels' indices confuse.
inline std::vector<int> random_ints(std::size_t count, unsigned seed = 1) {
    workbook::Random random(seed);
    std::vector<int> values(count);
    for (int& value : values)
        value = static_cast<int>(random.next() >> 40);
    return values;
}

/// How a mistake may be told too, in some orders.
struct Told {
    const char* finding = "";
    const char* says = "";
    const char* remedy = "";
};

/// Names are lower_case_words; texts hold no quotes and no backslashes.
struct Pair {
    const char* name;
    const char* mistake; ///< What is wrong, as an expert would say it to the author, in one sentence.
    const char*
        fix; ///< What is to be changed where, in one sentence: the step from the broken kernel to the twin.
    bool (*run)(bool broken); ///< Launches, and says whether the result is right.
    const char* finding = ""; ///< Name of the finding.
    const char* says = "";    ///< Words of its message that name the cause.
    const char* remedy = "";  ///< Words of its advice.
    Told also[3] = {};        ///< Each names the same cause and a right remedy.
};

/// The three texts as members of a JSON object.
inline void print(const Told& told) {
    std::printf("\"finding\":\"%s\",\"says\":\"%s\",\"remedy\":\"%s\"", told.finding, told.says, told.remedy);
}

/// One line of JSON.
inline void print(const Pair& pair) {
    std::printf("{\"name\":\"%s\",\"mistake\":\"%s\",\"fix\":\"%s\",", pair.name, pair.mistake, pair.fix);
    print(Told{pair.finding, pair.says, pair.remedy});
    std::printf(",\"also\":[");
    const char* between = "{";
    for (const Told& other : pair.also)
        if (*other.finding) {
            std::printf("%s", between);
            print(other);
            std::printf("}");
            between = ",{";
        }
    std::printf("]}\n");
}

inline int main(int argc, char** argv, std::span<const Pair> list) {
    if (argc == 2 && std::string_view(argv[1]) == "--list") {
        for (const Pair& each : list)
            print(each);
        return 0;
    }
    const std::string_view variant = argc == 3 ? argv[2] : "";
    if (variant == "twin" || variant == "broken")
        for (const Pair& each : list)
            if (std::string_view(argv[1]) == each.name)
                return each.run(variant == "broken") ? 0 : 1;
    std::fprintf(stderr, "usage: %s --list | NAME twin|broken\n", argv[0]);
    return 2;
}

} // namespace pairs
