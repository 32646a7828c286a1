/// @file kernel.hpp
/// The learner's kernel: found in the PTX that his file became, and launched.
#pragma once

#include "workbook/launch.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <typeinfo>

namespace judge {

/// The kernel called `name` of the file that was handed to the judge; a handle that lives until the process
/// ends. Ends with a verdict if there is none, or if its parameters have other sizes than these.
/// @param sizes     bytes of each parameter
/// @param signature typeid's name of the function type that is meant
[[nodiscard]] const void* find_kernel(const std::string& name, std::span<const std::size_t> sizes,
                                      const char* signature);

template <class Signature>
class Kernel;

/// A kernel of the learner's file, to be called with the shape of a launch and its arguments:
///
///     const judge::Kernel<void(const float*, float*, std::size_t)> kernel("reverse_tile");
///     kernel({.grid = 4, .block = 256}, in.data(), out.data(), size);
///
/// A structure among the parameters is declared here as the exercise declares it.
template <class... Params>
class Kernel<void(Params...)> {
  public:
    /// Looks for it. @param name as the learner's file has it, without a namespace
    explicit Kernel(const std::string& name)
        : function_(find_kernel(name, std::array<std::size_t, sizeof...(Params)>{sizeof(Params)...},
                                typeid(void(Params...)).name())) {}

    /// Launches it; `args` are converted to the types of the parameters. Does not wait. Throws
    /// workbook::CudaError if the launch is refused.
    template <class... Args>
    void operator()(const workbook::LaunchShape& shape, Args&&... args) const {
        static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter of the kernel");
        const auto with_converted = [&](Params... converted) {
            std::array<void*, sizeof...(Params)> pointers{
                const_cast<void*>(static_cast<const void*>(&converted))...};
            workbook::launch_function(function_, shape, pointers.data());
        };
        with_converted(static_cast<Args&&>(args)...);
    }

  private:
    const void* function_;
};

} // namespace judge
