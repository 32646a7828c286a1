/// @file conditions.hpp
/// Clock and power of the GPU while something runs, as its management library says.
#pragma once

#include "cublas.hpp" // Library

#include <optional>

namespace gemm {

/// What the management library says at one moment.
struct Conditions {
    unsigned sm_mhz = 0;
    double watts = 0; ///< mean of the last second
};

/// NVML, if it is there. Only reads.
class Management {
  public:
    /// @param look false: it says nothing; see Library
    explicit Management(bool look) : library_("libnvidia-ml", 1, look) {
        const auto begin = library_.function<int (*)()>("nvmlInit_v2");
        const auto device = library_.function<int (*)(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
        clock_ = library_.function<int (*)(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
        power_ = library_.function<int (*)(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
        if (begin == nullptr || device == nullptr || begin() != 0 || device(0, &device_) != 0)
            device_ = nullptr;
    }

    [[nodiscard]] std::optional<Conditions> now() const {
        if (device_ == nullptr || clock_ == nullptr || power_ == nullptr)
            return {};
        constexpr int sm = 1; // NVML_CLOCK_SM
        Conditions found;
        unsigned milliwatts = 0;
        if (clock_(device_, sm, &found.sm_mhz) != 0 || power_(device_, &milliwatts) != 0)
            return {};
        found.watts = milliwatts * 1e-3;
        return found;
    }

  private:
    Library library_;
    void* device_ = nullptr;
    int (*clock_)(void*, int, unsigned*) = nullptr;
    int (*power_)(void*, unsigned*) = nullptr;
};

} // namespace gemm
