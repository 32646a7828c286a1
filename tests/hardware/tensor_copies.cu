// Executes recorded tensor copies on the device at hand and compares what they move with what an H200 moved.

#include "isolated.hpp"
#include "tensor_records.hpp"

#include <workbook/buffer.hpp>
#include <workbook/check.hpp>
#include <workbook/cli.hpp>
#include <workbook/tensor_map.hpp>

#include <cuda/ptx>

#include <cstdio>
#include <cstring>
#include <memory>

namespace {

using hardware::CopyCase;
using hardware::RecordLine;
using workbook::check;
using workbook::UsageError;

constexpr std::string_view help =
    R"(tensor_copies: tensor copies here and on an H200

  --check FILE    execute the cases of FILE and compare the results
  --record FILE   execute the cases of FILE and write the results into it
  --help          print this

exit code: 0 all equal, 1 something differs or failed, 2 bad arguments, 77 no suitable device
)";

constexpr std::uint32_t area_bytes = 32768;    ///< of shared memory, aligned to 1024 bytes
constexpr std::uint32_t barrier_bytes = 1024;  ///< before it
constexpr std::size_t memory_bytes = 262144;   ///< of global memory
constexpr std::uint64_t tensor_offset = 65536; ///< of the tensor in it, if the case does not move it
constexpr long long patience = 3'000'000;      ///< clocks that a load may take

enum class Operation { load, store, add };

/// What one launch does.
struct Job {
    Operation operation;
    int rank;
    std::int32_t start[5];
    std::uint32_t tile;     ///< offset in the area
    std::uint32_t expected; ///< bytes that the barrier waits for
};

namespace ptx = cuda::ptx;

/// One thread's part: starts the copy and waits for its end. Says whether it came.
template <int rank>
__device__ bool copy(const Job& job, const CUtensorMap* map, unsigned char* area, std::uint64_t* bar) {
    std::int32_t start[rank];
    for (int i = 0; i < rank; ++i)
        start[i] = job.start[i];
    unsigned char* const tile = area + job.tile;
    if (job.operation == Operation::load) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                       job.expected);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, start, bar);
        const long long begin = clock64();
        while (!ptx::mbarrier_test_wait_parity(bar, 0))
            if (clock64() - begin > patience)
                return false;
        return true;
    }
    if (job.operation == Operation::store)
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, start, tile);
    else
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, start, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    return true;
}

/// Fills the area, executes the job, and hands the area out.
__global__ void recorded_copy(Job job, const CUtensorMap* map, const uint4* fill, uint4* result,
                              unsigned* complete) {
    extern __shared__ __align__(1024) unsigned char memory[];
    auto* const bar = reinterpret_cast<std::uint64_t*>(memory);
    unsigned char* const bytes = memory + barrier_bytes;
    auto* const area = reinterpret_cast<uint4*>(bytes);
    for (unsigned i = threadIdx.x; i < area_bytes / sizeof(uint4); i += blockDim.x)
        area[i] = fill[i];
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, map, ptx::n32_t<128>{});
        bool done = false;
        switch (job.rank) {
        case 1:
            done = copy<1>(job, map, bytes, bar);
            break;
        case 2:
            done = copy<2>(job, map, bytes, bar);
            break;
        case 3:
            done = copy<3>(job, map, bytes, bar);
            break;
        case 4:
            done = copy<4>(job, map, bytes, bar);
            break;
        default:
            done = copy<5>(job, map, bytes, bar);
        }
        *complete = done ? 1 : 0;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < area_bytes / sizeof(uint4); i += blockDim.x)
        result[i] = area[i];
}

/// These bytes with 32 values of `float` at the beginning of the tensor that rounding and flushing treat in
/// ways of their own: zeros, subnormal numbers, halves, the greatest numbers, infinities, NaN.
std::vector<unsigned char> with_edge_cases(std::vector<unsigned char> bytes) {
    constexpr std::uint32_t values[] = {
        0x00000000, 0x80000000, 0x00000001, 0x00000fff, 0x00001000, 0x00001fff, 0x007fffff, 0x80000001,
        0x807fffff, 0x3f801000, 0x3f803000, 0x3f800fff, 0x3f801001, 0xbf801000, 0xbf803000, 0x7f7fffff,
        0x7f7fefff, 0x7f7ff000, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
        0xff800001, 0x7fffffff, 0xffffffff, 0x7f801000, 0x00800000, 0x007ff000, 0x7fc12345, 0x3f800000};
    std::memcpy(bytes.data() + tensor_offset, values, sizeof values);
    return bytes;
}

class Runner {
  public:
    Runner() {
        check(cudaFuncSetAttribute(recorded_copy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   barrier_bytes + area_bytes),
              "asking for shared memory");
    }

    /// The digest of what the copy left where it writes, or the error.
    std::string run(const CopyCase& c) {
        CUtensorMap map{};
        if (const CUresult refused = encode(c, map); refused != CUDA_SUCCESS)
            return "refused " + std::to_string(refused);
        const auto& before = c.has("special") ? special_ : noise_;
        memory_.upload(before);
        map_.upload(std::span<const CUtensorMap>(&map, 1));
        area_.poison();
        const Job job = job_of(c);
        recorded_copy<<<1, 128, barrier_bytes + area_bytes>>>(
            job, map_.data(), reinterpret_cast<const uint4*>(fill_.data()),
            reinterpret_cast<uint4*>(area_.data()), complete_.data());
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        if (error != cudaSuccess)
            return "error " + std::to_string(error);
        const auto area = area_.download(), memory = memory_.download();
        std::string result = complete_.download()[0] == 1 ? "" : "incomplete ";
        const bool load = job.operation == Operation::load;
        result += hardware::digest(load ? area : memory);
        if ((load ? memory : area) != (load ? before : area_noise_))
            result += " and its source changed";
        return result;
    }

  private:
    /// Calls the driver, then changes the words as `flip=word.bit,…` says.
    CUresult encode(const CopyCase& c, CUtensorMap& map) {
        const hardware::MapArguments m = c.map();
        const CUresult result = encoder_(
            &map, static_cast<CUtensorMapDataType>(m.type), m.rank,
            memory_.data() + tensor_offset + m.address, m.dims.data(), m.strides.data(), m.box.data(),
            m.element_strides.data(), static_cast<CUtensorMapInterleave>(m.interleave),
            static_cast<CUtensorMapSwizzle>(m.swizzle), static_cast<CUtensorMapL2promotion>(m.l2_promotion),
            static_cast<CUtensorMapFloatOOBfill>(m.fill));
        std::array<std::uint64_t, 16> words;
        std::memcpy(words.data(), &map, sizeof map);
        if (c.has("flip"))
            hardware::flip_bits(words, c.text("flip"));
        if (c.has("words"))
            for (std::size_t i = 0; i < 16; ++i)
                words[i] = static_cast<std::uint64_t>(c.list("words").at(i));
        std::memcpy(&map, words.data(), sizeof map);
        return result;
    }

    /// The step of dimension 0 is ignored without interleave; with it the last dimension but one is one
    /// group.
    static std::uint32_t bytes_moved(const hardware::MapArguments& m) {
        const auto count = [&](std::size_t i) {
            return (m.box[i] + m.element_strides[i] - 1) / m.element_strides[i];
        };
        const bool interleaved = m.interleave != 0;
        std::uint32_t bytes = interleaved ? 16 * static_cast<std::uint32_t>(m.interleave) * count(0)
                                          : m.box[0] * hardware::element_bytes(m.type);
        for (std::size_t i = 1; i < m.rank; ++i)
            if (!interleaved || i != m.rank - 2)
                bytes *= count(i);
        return bytes;
    }

    static Job job_of(const CopyCase& c) {
        const hardware::MapArguments m = c.map();
        Job job{};
        job.operation = c.operation() == "load"    ? Operation::load
                        : c.operation() == "store" ? Operation::store
                                                   : Operation::add;
        job.rank = static_cast<int>(c.number("as", m.rank));
        const auto start = c.list("start");
        for (std::size_t i = 0; i < start.size() && i < 5; ++i)
            job.start[i] = static_cast<std::int32_t>(start[i]);
        job.tile = static_cast<std::uint32_t>(c.number("at", 0));
        job.expected = bytes_moved(m);
        job.expected = static_cast<std::uint32_t>(c.number("tx", job.expected));
        return job;
    }

    const PFN_cuTensorMapEncodeTiled_v12000 encoder_ = workbook::tensor_map_encoder();
    const std::vector<unsigned char> noise_ = hardware::noise(memory_bytes, 1),
                                     special_ = with_edge_cases(noise_),
                                     area_noise_ = hardware::noise(area_bytes, 2);
    workbook::DeviceBuffer<unsigned char> memory_{memory_bytes}, area_{area_bytes};
    workbook::DeviceBuffer<unsigned char> fill_{std::span<const unsigned char>(area_noise_)};
    workbook::DeviceBuffer<CUtensorMap> map_{1};
    workbook::DeviceBuffer<unsigned> complete_{1};
};

/// The results of all cases, by the index of their lines.
std::vector<std::string> run_all(const std::vector<RecordLine>& lines) {
    return hardware::run_isolated(lines.size(), [&]() -> hardware::IsolatedCase {
        const auto runner = std::make_shared<Runner>();
        return [&lines, runner](std::size_t i) {
            return lines[i].arguments.empty() ? "" : runner->run(CopyCase(lines[i].arguments));
        };
    });
}

int compare(const std::vector<RecordLine>& lines, const std::vector<std::string>& results) {
    unsigned passed = 0, failed = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].arguments.empty())
            continue;
        if (results[i] == lines[i].result)
            ++passed;
        else {
            ++failed;
            std::printf("%s\n  here: %s\n  H200: %s\n", lines[i].arguments.c_str(), results[i].c_str(),
                        lines[i].result.c_str());
        }
    }
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
        if (!hardware::has_device()) {
            std::fprintf(stderr, "tensor_copies: no CUDA device; put the emulator's libraries in front\n");
            return workbook::exit_code::device_lacks;
        }
        std::vector<RecordLine> lines = hardware::read_record(args[1]);
        const std::vector<std::string> results = run_all(lines);
        if (args[0] == "--check")
            return compare(lines, results);
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (!lines[i].arguments.empty())
                lines[i].result = results[i];
        hardware::write_record(args[1], lines);
        return workbook::exit_code::ok;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "tensor_copies: %s\n", error.what());
        return workbook::exit_code::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tensor_copies: %s\n", error.what());
        return workbook::exit_code::failed;
    }
}
