// Has recorded tensor maps made by the driver at hand and compares their 128 bytes with those of an H200's
// driver.

#include "tensor_records.hpp"

#include <workbook/check.hpp>
#include <workbook/cli.hpp>
#include <workbook/tensor_map.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace {

using hardware::RecordLine;
using workbook::UsageError;

constexpr std::string_view help =
    R"(tensor_maps: the bytes of tensor maps here and on an H200

  --check FILE    make the maps of FILE and compare their bytes
  --record FILE   make the maps of FILE and write the bytes into it
  --help          print this

exit code: 0 all equal, 1 something differs or failed, 2 bad arguments, 77 no suitable device
)";

/// The driver's answer, and the words of the map if it made one.
std::string encoded(PFN_cuTensorMapEncodeTiled_v12000 encode, const std::string& arguments) {
    const hardware::MapArguments m = hardware::map_arguments(arguments);
    CUtensorMap map;
    std::memset(&map, 0xA5, sizeof map);
    const CUresult result = encode(
        &map, static_cast<CUtensorMapDataType>(m.type), m.rank, reinterpret_cast<void*>(m.address),
        m.dims.data(), m.strides.data(), m.box.data(), m.element_strides.data(),
        static_cast<CUtensorMapInterleave>(m.interleave), static_cast<CUtensorMapSwizzle>(m.swizzle),
        static_cast<CUtensorMapL2promotion>(m.l2_promotion), static_cast<CUtensorMapFloatOOBfill>(m.fill));
    if (result != CUDA_SUCCESS)
        return std::to_string(result);
    std::array<std::uint64_t, 16> words{};
    std::memcpy(words.data(), &map, sizeof map);
    return "0 " + hardware::words_text(words);
}

int run(const std::string& mode, const std::string& path) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "tensor_maps: no CUDA device; put the emulator's libraries in front\n");
        return workbook::exit_code::device_lacks;
    }
    workbook::check(cudaFree(nullptr), "making a context");
    const PFN_cuTensorMapEncodeTiled_v12000 encode = workbook::tensor_map_encoder();
    std::vector<RecordLine> lines = hardware::read_record(path);
    unsigned passed = 0, failed = 0;
    for (RecordLine& line : lines) {
        if (line.arguments.empty())
            continue;
        const std::string here = encoded(encode, line.arguments);
        if (mode == "--record")
            line.result = here;
        else if (here == line.result)
            ++passed;
        else {
            ++failed;
            std::printf("%s\n  here: %s\n  H200: %s\n", line.arguments.c_str(), here.c_str(),
                        line.result.c_str());
        }
    }
    if (mode == "--record")
        hardware::write_record(path, lines);
    else
        std::printf("[summary] %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed ? workbook::exit_code::failed : workbook::exit_code::ok;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> args(argv + 1, argv + argc);
        if (args.size() == 1 && args[0] == "--help") {
            std::fputs(help.data(), stdout);
            return workbook::exit_code::ok;
        }
        if (args.size() != 2 || (args[0] != "--check" && args[0] != "--record"))
            throw UsageError("give --check FILE or --record FILE; --help says more");
        return run(args[0], args[1]);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "tensor_maps: %s\n", error.what());
        return workbook::exit_code::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tensor_maps: %s\n", error.what());
        return workbook::exit_code::failed;
    }
}
