#include "kept.hpp"

#include "judge.hpp"

#include "workbook/check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

namespace judge {
namespace {

struct Kept {
    const void* device;
    std::vector<unsigned char> bytes;
};

std::vector<Kept> all; // NOLINT: one process judges one exercise

} // namespace

void keep(const void* device, const void* values, std::size_t bytes) {
    const auto* first = static_cast<const unsigned char*>(values);
    if (bytes == 0)
        return;
    const auto before = std::ranges::find(all, device, &Kept::device);
    Kept& kept = before == all.end() ? all.emplace_back(device) : *before;
    kept.bytes.assign(first, first + bytes);
}

void forget_kept() { all.clear(); }

void expect_kept() {
    for (const Kept& each : all) {
        std::vector<unsigned char> now(each.bytes.size());
        workbook::check(cudaMemcpy(now.data(), each.device, now.size(), cudaMemcpyDeviceToHost),
                        "looking at what was given");
        if (now != each.bytes)
            fail("The results are right, but the kernel has written to an array that it was given to read.");
    }
}

} // namespace judge
