// Executes recorded tensor copies in im2col mode on the device at hand, makes recorded tensor maps, and
// compares both with what an H200 and its driver did.

#include "im2col_copy.cuh"
#include "isolated.hpp"
#include "tensor_records.hpp"

#include <workbook/buffer.hpp>
#include <workbook/check.hpp>
#include <workbook/cli.hpp>

#include <cudaTypedefs.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <unordered_map>

namespace {

using hardware::CopyCase;
using hardware::Job;
using hardware::RecordLine;
using workbook::check;
using workbook::UsageError;
using Bytes = std::vector<unsigned char>;

constexpr std::string_view help =
    R"(im2col: tensor maps and tensor copies in im2col mode, here and on an H200

  --check FILE    execute the cases of FILE and compare the results
  --record FILE   execute the cases of FILE, or all if there is no FILE, and write the results into it
  --dump FILE     with either: write there where every byte came from
  --seconds N     with --record: begin no case after N seconds; default 600
  --cases         print the cases
  --help          print this

exit code: 0 all equal, 1 something differs or failed, 2 bad arguments, 77 no suitable device or nothing recorded
)";

struct Options {
    std::string check, record, dump;
    unsigned seconds = 600;
    bool help = false, cases = false;
};

Options parse(std::span<char* const> args) {
    Options options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        const std::size_t equals = arg.find('=');
        const std::string name(arg.substr(0, equals));
        const auto text = [&] { return workbook::option_value(args, i, equals); };
        if (name == "--help")
            options.help = true;
        else if (name == "--cases")
            options.cases = true;
        else if (name == "--check")
            options.check = text();
        else if (name == "--record")
            options.record = text();
        else if (name == "--dump")
            options.dump = text();
        else if (name == "--seconds")
            options.seconds = static_cast<unsigned>(std::stoul(std::string(text())));
        else
            throw UsageError("unknown option " + name + "; --help says more");
    }
    if (!options.help && !options.cases && options.check.empty() == options.record.empty())
        throw UsageError("give --check FILE or --record FILE; --help says more");
    return options;
}

/// Where the words of one memory lie.
using Places = std::unordered_map<std::uint32_t, std::size_t>;

Places places_of(const Bytes& bytes) {
    Places places;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        std::uint32_t word;
        std::memcpy(&word, bytes.data() + i, sizeof word);
        places[word] = i;
    }
    return places;
}

/// What changed and where it came from: `offset:bytes=source` for bytes that lie at `source` in the other
/// memory, `=zero`, `=nan`, `=?` for others; at most `most` of them.
std::string describe(const Bytes& before, const Bytes& after, const Places& sources, std::size_t most) {
    constexpr std::uint32_t special = 0x7ff77ff7;
    std::string out;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < after.size();) {
        const auto word_at = [&](std::size_t at) {
            std::uint32_t word;
            std::memcpy(&word, after.data() + at, sizeof word);
            return word;
        };
        const auto changed = [&](std::size_t at) { return std::memcmp(&before[at], &after[at], 4) != 0; };
        if (!changed(i)) {
            i += 4;
            continue;
        }
        if (runs++ == most)
            return out + " …";
        const std::uint32_t word = word_at(i);
        const auto source = sources.find(word);
        const auto goes_on = [&](std::size_t at) {
            const std::uint32_t next = word_at(at);
            if (source != sources.end()) {
                const auto found = sources.find(next);
                return found != sources.end() && found->second == source->second + (at - i);
            }
            return word == 0 || word == special ? next == word
                                                : next != 0 && next != special && !sources.contains(next);
        };
        std::size_t end = i + 4;
        while (end < after.size() && changed(end) && goes_on(end))
            end += 4;
        out += " " + std::to_string(i) + ":" + std::to_string(end - i) + "=" +
               (source != sources.end() ? std::to_string(source->second)
                : word == 0             ? "zero"
                : word == special       ? "nan"
                                        : "?");
        i = end;
    }
    return out;
}

PFN_cuTensorMapEncodeIm2col_v12000 find_encoder() {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &function, 12000, cudaEnableDefault,
                                           &found),
          "looking for cuTensorMapEncodeIm2col");
    if (found != cudaDriverEntryPointSuccess || function == nullptr)
        throw std::runtime_error("the driver has no cuTensorMapEncodeIm2col");
    return reinterpret_cast<PFN_cuTensorMapEncodeIm2col_v12000>(function);
}

CUresult encode_tiled(const hardware::MapArguments& m, CUtensorMap& map) {
    void* function = nullptr;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault),
          "looking for cuTensorMapEncodeTiled");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
        &map, static_cast<CUtensorMapDataType>(m.type), m.rank, reinterpret_cast<void*>(m.address),
        m.dims.data(), m.strides.data(), m.box.data(), m.element_strides.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

class Runner {
  public:
    explicit Runner(bool dump) : dump_(dump) {
        check(cudaFuncSetAttribute(hardware::device::recorded_copy,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   hardware::im2col_barrier_bytes + hardware::im2col_area_bytes),
              "asking for shared memory");
    }

    /// The driver's answer to a map, or the digest of what a copy left where it writes and the first places,
    /// or the error. Behind a tab all places.
    std::string run(const CopyCase& c) {
        const bool is_map = c.operation() == "map";
        CUtensorMap map;
        std::memset(&map, 0xa5, sizeof map);
        const CUresult refused = encode(c, is_map ? 0 : address_of_tensor(), map);
        if (refused != CUDA_SUCCESS)
            return is_map ? std::to_string(refused) : "refused " + std::to_string(refused);
        std::array<std::uint64_t, 16> words{};
        std::memcpy(words.data(), &map, sizeof map);
        if (is_map)
            return "0 " + hardware::words_text(words);
        if (c.has("flip"))
            hardware::flip_bits(words, c.text("flip"));
        std::memcpy(&map, words.data(), sizeof map);
        return execute(job_of(c), map);
    }

  private:
    std::uint64_t address_of_tensor() {
        return reinterpret_cast<std::uint64_t>(memory_.data()) + hardware::im2col_tensor_offset;
    }

    CUresult encode(const CopyCase& c, std::uint64_t base, CUtensorMap& map) const {
        hardware::MapArguments m = c.map();
        m.address += base;
        if (c.has("box"))
            return encode_tiled(m, map);
        const auto corner = [&](const char* key) {
            std::vector<int> values;
            for (const std::int64_t value : c.list(key))
                values.push_back(static_cast<int>(value));
            return values;
        };
        const std::vector<int> low = corner("lo"), high = corner("hi");
        return encoder_(
            &map, static_cast<CUtensorMapDataType>(m.type), m.rank, reinterpret_cast<void*>(m.address),
            m.dims.data(), m.strides.data(), low.empty() ? nullptr : low.data(),
            high.empty() ? nullptr : high.data(), static_cast<cuuint32_t>(c.number("ch", 0)),
            static_cast<cuuint32_t>(c.number("px", 0)), m.element_strides.data(),
            static_cast<CUtensorMapInterleave>(m.interleave), static_cast<CUtensorMapSwizzle>(m.swizzle),
            static_cast<CUtensorMapL2promotion>(m.l2_promotion),
            static_cast<CUtensorMapFloatOOBfill>(m.fill));
    }

    static Job job_of(const CopyCase& c) {
        const hardware::MapArguments m = c.map();
        Job job{};
        job.operation = c.operation() == "load"    ? hardware::Operation::load
                        : c.operation() == "store" ? hardware::Operation::store
                                                   : hardware::Operation::add;
        job.tile_mode = c.has("mode");
        job.rank = static_cast<int>(c.number("as", m.rank));
        const auto start = c.list("start"), offsets = c.list("off");
        for (std::size_t i = 0; i < start.size() && i < 5; ++i)
            job.start[i] = static_cast<std::int32_t>(start[i]);
        for (std::size_t i = 0; i < offsets.size() && i < 3; ++i)
            job.offsets[i] = static_cast<std::uint16_t>(offsets[i]);
        job.tile = static_cast<std::uint32_t>(c.number("at", 0));
        // Interleaved, a pixel has one group of channels, whatever `ch` says.
        const std::int64_t bytes =
            c.number("px", 0) *
            (m.interleave ? 16 * m.interleave : c.number("ch", 0) * hardware::element_bytes(m.type));
        job.expected = static_cast<std::uint32_t>(c.number("tx", bytes));
        return job;
    }

    std::string execute(const Job& job, const CUtensorMap& map) {
        memory_.upload(noise_);
        map_.upload(std::span<const CUtensorMap>(&map, 1));
        area_.poison();
        hardware::device::
            recorded_copy<<<1, 128, hardware::im2col_barrier_bytes + hardware::im2col_area_bytes>>>(
                job, map_.data(), reinterpret_cast<const uint4*>(fill_.data()),
                reinterpret_cast<uint4*>(area_.data()), outcome_.data());
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        if (error != cudaSuccess)
            return "error " + std::to_string(error);
        const Bytes area = area_.download(), memory = memory_.download();
        const hardware::Outcome outcome = outcome_.download()[0];
        const bool load = job.operation == hardware::Operation::load;
        const auto describe_all = [&](std::size_t most) {
            return load ? describe(area_noise_, area, memory_places_, most)
                        : describe(noise_, memory, area_places_, most);
        };
        std::string result = outcome.complete ? "" : "incomplete ";
        result += hardware::digest(load ? area : memory);
        if ((load ? memory : area) != (load ? noise_ : area_noise_))
            result += " and its source changed";
        result += describe_all(3);
        if (dump_) {
            char bits[48];
            std::snprintf(bits, sizeof bits, "\t%016llx %016llx",
                          static_cast<unsigned long long>(outcome.barrier[0]),
                          static_cast<unsigned long long>(outcome.barrier[1]));
            result += bits + describe_all(4096);
        }
        return result;
    }

    const bool dump_;
    const PFN_cuTensorMapEncodeIm2col_v12000 encoder_ = find_encoder();
    const Bytes noise_ = hardware::noise(hardware::im2col_memory_bytes, 1),
                area_noise_ = hardware::noise(hardware::im2col_area_bytes, 2);
    const Places memory_places_ = places_of(noise_), area_places_ = places_of(area_noise_);
    workbook::DeviceBuffer<unsigned char> memory_{hardware::im2col_memory_bytes},
        area_{hardware::im2col_area_bytes};
    workbook::DeviceBuffer<unsigned char> fill_{std::span<const unsigned char>(area_noise_)};
    workbook::DeviceBuffer<CUtensorMap> map_{1};
    workbook::DeviceBuffer<hardware::Outcome> outcome_{1};
};

/// The results of all cases; what stands behind the tabs goes into the dump.
std::vector<std::string> run_all(const std::vector<RecordLine>& lines, const Options& options) {
    const bool dump = !options.dump.empty();
    hardware::IsolatedLimits limits;
    limits.seconds_in_all = options.seconds;
    limits.seconds_a_case = options.record.empty() ? 60 : 4;
    auto results = hardware::run_isolated(
        lines.size(),
        [&]() -> hardware::IsolatedCase {
            const auto runner = std::make_shared<Runner>(dump);
            return [&lines, runner](std::size_t i) {
                return lines[i].arguments.empty() ? "" : runner->run(CopyCase(lines[i].arguments));
            };
        },
        limits);
    std::ofstream file;
    if (dump)
        file.open(options.dump);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::size_t tab = results[i].find('\t');
        if (dump && !lines[i].arguments.empty())
            file << lines[i].arguments << " > "
                 << (tab == std::string::npos ? results[i] : results[i].substr(tab + 1)) << '\n';
        results[i].resize(std::min(tab, results[i].size()));
    }
    return results;
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

/// Those of the program if there is no file.
std::vector<RecordLine> cases_of(const std::string& path) {
    if (std::ifstream(path))
        return hardware::read_record(path);
    std::vector<RecordLine> lines;
    for (const std::string& arguments : hardware::im2col_cases())
        lines.push_back({arguments, ""});
    return lines;
}

int run(const Options& options) {
    if (options.cases) {
        for (const std::string& arguments : hardware::im2col_cases())
            std::printf("%s\n", arguments.c_str());
        return workbook::exit_code::ok;
    }
    if (options.record.empty() && !std::ifstream(options.check)) {
        std::printf("SKIPPED: not recorded: %s does not exist; --record makes it on an H200\n",
                    options.check.c_str());
        return workbook::exit_code::device_lacks;
    }
    if (!hardware::has_device()) {
        std::fprintf(stderr, "im2col: no CUDA device; put the emulator's libraries in front\n");
        return workbook::exit_code::device_lacks;
    }
    std::vector<RecordLine> lines = cases_of(options.record.empty() ? options.check : options.record);
    const std::vector<std::string> results = run_all(lines, options);
    if (options.record.empty())
        return compare(lines, results);
    std::vector<RecordLine> recorded;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].arguments.empty())
            recorded.push_back(lines[i]);
        else if (!results[i].empty())
            recorded.push_back({lines[i].arguments, results[i]});
    hardware::write_record(options.record, recorded);
    std::printf("%zu of %zu cases recorded\n", recorded.size(), lines.size());
    return workbook::exit_code::ok;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(std::span(argv + 1, argv + argc));
        if (options.help) {
            std::fputs(help.data(), stdout);
            return workbook::exit_code::ok;
        }
        return run(options);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "im2col: %s\n", error.what());
        return workbook::exit_code::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "im2col: %s\n", error.what());
        return workbook::exit_code::failed;
    }
}
