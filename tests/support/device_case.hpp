/// @file device_case.hpp
/// For test cases that need a device: they are skipped, with the reason, where there is none that will do.
#pragma once

#include "workbook/device.hpp"

#include <catch2/catch_test_macros.hpp>

/// Skips the test case unless the device meets the needs.
inline void require_device(const workbook::DeviceNeeds& needs = {}) {
    try {
        (void)workbook::require(needs);
    } catch (const workbook::DeviceLacks& lack) {
        SKIP(lack.what());
    }
}
