#include "recording/tensor_cores.hpp"

#include "machine/instructions/matrix/wgmma_forms.hpp"

namespace emu {
namespace {

constexpr std::uint64_t first_lane = 500'000, lanes_of_a_block = 16;

/// Shape and types: what stands behind `.aligned`.
std::string form_of(const AsyncOperation& operation) {
    std::string form;
    bool found = false;
    for (const auto modifier : operation.warp->cluster().info().kernel->sources[operation.pc]->modifiers) {
        if (found)
            form += (form.empty() ? "" : ".") + std::string(modifier);
        found |= modifier == "aligned";
    }
    return form;
}

} // namespace

std::uint64_t TensorCores::lane_of(const Warp& warp) {
    return first_lane + warp.block().rank() * lanes_of_a_block + warp.index() / matrix::warpgroup_warps;
}

std::string TensorCores::name_of(std::uint64_t lane) {
    const std::uint64_t number = lane - first_lane;
    return "block " + std::to_string(number / lanes_of_a_block) + ", tensor cores, warpgroup " +
           std::to_string(number % lanes_of_a_block);
}

void TensorCores::issued(const AsyncOperation& operation, std::uint64_t now) {
    const std::uint64_t lane = lane_of(*operation.warp);
    State& state = states_[lane];
    if (state.in_flight++ == 0)
        state.busy = {lane, now, 0, form_of(operation)};
    state.busy.products += operation.warp->index() % matrix::warpgroup_warps == 0;
}

std::optional<BusyTensorCores> TensorCores::landed(const AsyncOperation& operation) {
    State& state = states_[lane_of(*operation.warp)];
    if (--state.in_flight != 0)
        return std::nullopt;
    return state.busy;
}

} // namespace emu
