// Runs random PTX programs on the device at hand and compares the results with those that an H200 gave.

#include "deviations.hpp"
#include "random_program.hpp"

#include <workbook/buffer.hpp>
#include <workbook/check.hpp>
#include <workbook/cli.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <type_traits>

namespace {

using hardware::RandomProgram;
using workbook::check;
using workbook::UsageError;

constexpr std::string_view help =
    R"(differential: random PTX programs, here and on an H200

  --seeds N       programs, each of its own seed; default 20
  --first N       the first seed; default 1
  --length N      instructions of each; default 60
  --record FILE   write a hash of each instruction's results
  --check FILE    compare with the hashes in FILE, for all seeds in it; --seeds, --first and --length are not used
  --raw FILE      write all results, 8 bytes each: [seed][instruction][thread]
  --ptx N         print the program of seed N and stop
  --help          print this

exit code: 0 all equal, 1 something differs or failed, 2 bad arguments, 77 no suitable device
)";

struct Options {
    std::uint64_t seeds = 20, first = 1, length = 60, ptx = 0;
    std::string record, check, raw;
    bool help = false;
};

Options parse(std::span<char* const> args) {
    Options options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        const std::size_t equals = arg.find('=');
        const std::string name(arg.substr(0, equals));
        const auto text = [&] { return workbook::option_value(args, i, equals); };
        const auto number = [&] { return workbook::parse_number(name, text(), 1, 100000); };
        if (name == "--help")
            options.help = true;
        else if (name == "--seeds")
            options.seeds = number();
        else if (name == "--first")
            options.first = number();
        else if (name == "--length")
            options.length = number();
        else if (name == "--ptx")
            options.ptx = number();
        else if (name == "--record")
            options.record = text();
        else if (name == "--check")
            options.check = text();
        else if (name == "--raw")
            options.raw = text();
        else
            throw UsageError(name + ": unknown option; --help lists them");
    }
    return options;
}

/// FNV-1a with 32 bits.
class Hash {
  public:
    void add(std::uint64_t value) {
        for (unsigned byte = 0; byte < 8; ++byte)
            state_ = (state_ ^ static_cast<std::uint32_t>(value >> (8 * byte) & 0xff)) * 0x01000193u;
    }
    void add(std::string_view text) {
        for (const char c : text)
            add(static_cast<std::uint64_t>(c));
    }
    [[nodiscard]] std::string text() const {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", state_);
        return digits;
    }
    /// 16 bits: enough to see a difference in all but one of 65536, short enough to keep one for each
    /// instruction.
    [[nodiscard]] std::string short_text() const {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%04x", (state_ ^ state_ >> 16) & 0xffff);
        return digits;
    }

  private:
    std::uint32_t state_ = 0x811c9dc5u;
};

struct LibraryUnload {
    void operator()(cudaLibrary_t library) const noexcept { cudaLibraryUnload(library); }
};
using Library = std::unique_ptr<std::remove_pointer_t<cudaLibrary_t>, LibraryUnload>;

/// All results of a program, [instruction][thread], each NaN replaced by one NaN.
std::vector<std::uint64_t> run(const RandomProgram& program) {
    cudaLibrary_t handle = nullptr;
    check(cudaLibraryLoadData(&handle, program.ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "loading a program");
    const Library library(handle);
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, handle, "program"), "finding the kernel");
    workbook::DeviceBuffer<std::uint64_t> inputs{std::span<const std::uint64_t>(program.inputs)};
    const std::vector<std::uint64_t> zeros(program.kinds.size() * hardware::threads);
    workbook::DeviceBuffer<std::uint64_t> results{std::span<const std::uint64_t>(zeros)};
    std::uint64_t* addresses[] = {inputs.data(), results.data()};
    void* arguments[] = {&addresses[0], &addresses[1]};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(hardware::threads), arguments,
                           0, nullptr),
          "launch");
    check(cudaDeviceSynchronize(), "running a program");
    std::vector<std::uint64_t> values = results.download();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = hardware::canonical(values[i], program.kinds[i / hardware::threads]);
    return values;
}

/// A line of the record: seed, hash of program and inputs, hash of each instruction's results.
struct Record {
    std::string program;
    std::vector<std::string> results;
};

Record summary(const RandomProgram& program, std::span<const std::uint64_t> values) {
    Hash whole;
    whole.add(program.ptx);
    for (const std::uint64_t input : program.inputs)
        whole.add(input);
    Record record{whole.text(), {}};
    for (std::size_t i = 0; i < program.kinds.size(); ++i) {
        Hash hash;
        for (const std::uint64_t value : values.subspan(i * hardware::threads, hardware::threads))
            hash.add(value);
        record.results.push_back(hash.short_text());
    }
    return record;
}

std::map<std::uint64_t, Record> read_records(const std::string& path) {
    std::ifstream file(path);
    std::map<std::uint64_t, Record> records;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#'))
            continue;
        std::istringstream words(line);
        std::uint64_t seed = 0;
        Record record;
        words >> seed >> record.program;
        for (std::string hash; words >> hash;)
            record.results.push_back(hash);
        records[seed] = std::move(record);
    }
    if (records.empty())
        throw UsageError("--check " + path + ": cannot be read, or holds no results");
    return records;
}

/// Results of instructions: all of them, and those that PTX defines and an H200 gives so.
struct Tally {
    std::size_t all = 0, compared = 0;
};

/// Prints each instruction whose results differ. A later one may differ because an earlier one does.
bool same(std::uint64_t seed, const RandomProgram& program, const Record& here, const Record& recorded,
          Tally& tally) {
    if (here.program != recorded.program) {
        std::printf("seed %llu: the recorded results belong to another program; record them anew\n",
                    static_cast<unsigned long long>(seed));
        return false;
    }
    bool equal = true;
    const std::vector<bool> comparable = hardware::comparable(program);
    tally.all += comparable.size();
    tally.compared += static_cast<std::size_t>(std::ranges::count(comparable, true));
    for (std::size_t i = 0; i < here.results.size(); ++i)
        if (comparable[i] && here.results[i] != recorded.results[i]) {
            std::printf("seed %llu, instruction %zu differs: %s\n", static_cast<unsigned long long>(seed), i,
                        program.instructions[i].c_str());
            equal = false;
        }
    return equal;
}

class Outputs {
  public:
    explicit Outputs(const Options& options) {
        open(record_, "--record", options.record);
        open(raw_, "--raw", options.raw);
        if (record_.is_open()) {
            cudaDeviceProp device{};
            check(cudaGetDeviceProperties(&device, 0), "properties of device 0");
            record_ << "# seed, hash of program and inputs, hash of the results of each instruction; "
                    << device.name << "\n";
        }
    }

    void write(std::uint64_t seed, const Record& record, std::span<const std::uint64_t> values) {
        if (record_.is_open()) {
            record_ << seed << ' ' << record.program;
            for (const std::string& hash : record.results)
                record_ << ' ' << hash;
            record_ << std::endl;
        }
        raw_.write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(values.size_bytes()));
    }

  private:
    static void open(std::ofstream& file, std::string_view option, const std::string& path) {
        if (path.empty())
            return;
        file.open(path, std::ios::binary);
        if (!file)
            throw UsageError(std::string(option) + " " + path + ": cannot be written");
    }

    std::ofstream record_, raw_;
};

/// The seeds to run, each with the number of instructions of its program.
std::map<std::uint64_t, std::size_t> seeds(const Options& options,
                                           const std::map<std::uint64_t, Record>& known) {
    std::map<std::uint64_t, std::size_t> chosen;
    for (const auto& [seed, record] : known)
        chosen[seed] = record.results.size();
    if (known.empty())
        for (std::uint64_t seed = options.first; seed < options.first + options.seeds; ++seed)
            chosen[seed] = options.length;
    return chosen;
}

int run_all(const Options& options) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "differential: no CUDA device; put the emulator's libraries in front\n");
        return workbook::exit_code::device_lacks;
    }
    const auto known =
        options.check.empty() ? std::map<std::uint64_t, Record>{} : read_records(options.check);
    Outputs outputs(options);
    unsigned failed = 0;
    Tally tally;
    const auto chosen = seeds(options, known);
    for (const auto& [seed, length] : chosen) {
        const RandomProgram program = hardware::random_program(seed, length);
        try {
            const std::vector<std::uint64_t> values = run(program);
            const Record record = summary(program, values);
            outputs.write(seed, record, values);
            if (!known.empty() && !same(seed, program, record, known.at(seed), tally))
                ++failed;
        } catch (const workbook::CudaError& error) {
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), error.what());
            if (workbook::is_sticky(error.code()))
                return workbook::exit_code::failed;
            ++failed;
        }
    }
    if (tally.all)
        std::printf("%zu of %zu instructions compared\n", tally.compared, tally.all);
    std::printf("[summary] %zu passed, %u failed, 0 skipped\n", chosen.size() - failed, failed);
    return failed ? workbook::exit_code::failed : workbook::exit_code::ok;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
        if (options.help)
            std::fputs(help.data(), stdout);
        else if (options.ptx)
            std::fputs(hardware::random_program(options.ptx, options.length).ptx.c_str(), stdout);
        else
            return run_all(options);
        return workbook::exit_code::ok;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "differential: %s\n", error.what());
        return workbook::exit_code::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "differential: %s\n", error.what());
        return workbook::exit_code::failed;
    }
}
