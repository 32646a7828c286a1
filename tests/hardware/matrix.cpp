// Products of matrices, in every form of instruction, on the device at hand and on an H200.

#include "matrix_forms.hpp"
#include "matrix_inputs.hpp"
#include "tensor_records.hpp"

#include <workbook/buffer.hpp>
#include <workbook/check.hpp>
#include <workbook/cli.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <thread>
#include <type_traits>

namespace {

using hardware::MatrixForm;
using hardware::RecordLine;
using workbook::check;
using workbook::UsageError;

constexpr std::string_view help =
    R"(matrix: products of matrices here and on an H200

  --check FILE    execute the forms of FILE and compare the results
  --record FILE   execute the forms of FILE and write the results into it
  --only TEXT     those forms that TEXT occurs in, alone
  --sums N        with --record: as many products of each form as have N sums; default: 128 products
  --chunks N      with --record: a digest for each of N parts of them; default 1
  --help          print this

exit code: 0 all equal, 1 something differs or failed, 2 bad arguments, 77 no suitable device
)";

constexpr std::uint64_t directed_products = 64;
constexpr std::uint64_t samples = 8; ///< One of each manner of random products.
constexpr std::uint64_t in_one_launch = 8192;

struct Options {
    std::string file, only;
    std::uint64_t sums = 0, chunks = 1;
    bool record = false, help = false;
};

Options parse(std::span<char* const> args) {
    Options options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        const std::size_t equals = arg.find('=');
        const std::string name(arg.substr(0, equals));
        const auto text = [&] { return workbook::option_value(args, i, equals); };
        if (name == "--help") {
            options.help = true;
        } else if (name == "--check" || name == "--record") {
            options.file = text();
            options.record = name == "--record";
        } else if (name == "--only") {
            options.only = text();
        } else if (name == "--sums") {
            options.sums = workbook::parse_number(name, text(), 1, 10'000'000'000);
        } else if (name == "--chunks") {
            options.chunks = workbook::parse_number(name, text(), 1, 1000);
        } else {
            throw UsageError(name + ": unknown option; --help lists them");
        }
    }
    if (options.file.empty() && !options.help)
        throw UsageError("give --check FILE or --record FILE; --help says more");
    return options;
}

/// FNV-1a with 64 bits, a word at a time.
class Digest {
  public:
    void add(std::span<const std::uint32_t> words) {
        for (const std::uint32_t word : words)
            state_ = (state_ ^ word) * 0x100000001b3ull;
    }
    std::string text() const {
        char text[24];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
        return text;
    }

  private:
    std::uint64_t state_ = 0xcbf29ce484222325ull;
};

struct LibraryUnload {
    void operator()(cudaLibrary_t library) const noexcept { cudaLibraryUnload(library); }
};

/// Executes one form.
class Runner {
  public:
    explicit Runner(const std::string& text) : form_(text) {
        cudaLibrary_t handle = nullptr;
        check(cudaLibraryLoadData(&handle, form_.ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              "loading a kernel");
        library_.reset(handle);
        check(cudaLibraryGetKernel(&kernel_, handle, "k"), "finding the kernel");
    }

    const MatrixForm& form() const { return form_; }

    /// D of products `first` and following.
    std::vector<std::uint32_t> products(std::uint64_t first, std::uint64_t count) {
        const std::size_t words = form_.input_words();
        inputs_.resize(count * words);
        std::vector<std::jthread> workers;
        const std::uint64_t share = count / std::max(1u, std::thread::hardware_concurrency()) + 64;
        for (std::uint64_t from = 0; from < count; from += share)
            workers.emplace_back([this, first, from, words, end = std::min(count, from + share)] {
                for (std::uint64_t i = from; i < end; ++i)
                    hardware::fill_inputs(form_, first + i, std::span(inputs_).subspan(i * words, words));
            });
        workers.clear();
        return launch(static_cast<unsigned>(count));
    }

    /// D of a wmma.load, for all passes.
    std::vector<std::uint32_t> loaded() {
        std::vector<std::uint32_t> all;
        inputs_.resize(16384);
        for (unsigned pass = 0; pass < hardware::passes_of_load(form_); ++pass) {
            hardware::fill_elements(form_, pass, inputs_);
            const auto words = launch(1);
            all.insert(all.end(), words.begin(), words.end());
        }
        return all;
    }

  private:
    std::vector<std::uint32_t> launch(unsigned blocks) {
        const std::size_t words = std::size_t{blocks} * form_.output_words();
        if (in_.size() < inputs_.size())
            in_ = workbook::DeviceBuffer<std::uint32_t>(inputs_.size());
        if (out_.size() != words)
            out_ = workbook::DeviceBuffer<std::uint32_t>(words);
        in_.upload(inputs_);
        out_.poison();
        std::uint32_t* addresses[] = {in_.data(), out_.data()};
        void* arguments[] = {&addresses[0], &addresses[1]};
        check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(blocks), dim3(form_.threads()),
                               arguments, 0, nullptr),
              "launch");
        check(cudaDeviceSynchronize(), "multiplying");
        return out_.download();
    }

    MatrixForm form_;
    std::unique_ptr<std::remove_pointer_t<cudaLibrary_t>, LibraryUnload> library_;
    cudaKernel_t kernel_ = nullptr;
    std::vector<std::uint32_t> inputs_;
    workbook::DeviceBuffer<std::uint32_t> in_, out_;
};

/// What a line holds: `products digest… directed-digest samples…`; `-` is a digest that nobody recorded. Of a
/// load: `digest`.
struct Result {
    std::uint64_t products = 0;
    std::vector<std::string> digests;
    std::string directed = "-";
    std::vector<std::string> samples;

    std::string text() const {
        std::ostringstream out;
        out << products << ' ' << digests.size();
        for (const std::string& digest : digests)
            out << ' ' << digest;
        out << ' ' << directed;
        for (const std::string& sample : samples)
            out << ' ' << sample;
        return out.str();
    }
};

Result result_of(const std::string& text) {
    Result result;
    std::istringstream in(text);
    std::size_t chunks = 0;
    in >> result.products >> chunks;
    for (std::string word; result.digests.size() < chunks && in >> word;)
        result.digests.push_back(word);
    in >> result.directed;
    for (std::string word; in >> word;)
        result.samples.push_back(word);
    if (result.products == 0 || chunks == 0 || result.digests.size() != chunks)
        throw std::runtime_error("'" + text + "' is no result; record it anew");
    return result;
}

std::string hexadecimal(std::uint32_t word) {
    char text[12];
    std::snprintf(text, sizeof text, "%x", word);
    return text;
}

/// A word of product `i`; it moves on from product to product.
std::size_t word_of_sample(const MatrixForm& form, std::uint64_t i) {
    return (37 * i + 5) % form.output_words();
}

Result run(Runner& runner, std::uint64_t products, std::uint64_t chunks) {
    Result result;
    result.products = products;
    if (runner.form().load) {
        Digest digest;
        digest.add(runner.loaded());
        result.digests = {digest.text()};
        return result;
    }
    const std::size_t words = runner.form().output_words();
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
        Digest digest;
        const std::uint64_t end = products * (chunk + 1) / chunks;
        for (std::uint64_t first = products * chunk / chunks; first < end; first += in_one_launch) {
            const auto d = runner.products(first, std::min(in_one_launch, end - first));
            digest.add(d);
            for (std::uint64_t i = 0; first == 0 && i < std::min(samples, products); ++i)
                result.samples.push_back(hexadecimal(d[i * words + word_of_sample(runner.form(), i)]));
        }
        result.digests.push_back(digest.text());
    }
    Digest digest;
    digest.add(runner.products(hardware::first_directed, directed_products));
    result.directed = digest.text();
    return result;
}

/// Says what differs.
bool same(const std::string& form, const Result& here, const Result& recorded) {
    const bool directed = recorded.directed == "-" || here.directed == recorded.directed;
    if (here.digests == recorded.digests && directed)
        return true;
    std::printf("%s differs from an H200:\n", form.c_str());
    for (std::size_t i = 0; i < here.digests.size(); ++i)
        if (here.digests[i] != recorded.digests[i])
            std::printf("  part %zu of %zu\n", i + 1, here.digests.size());
    if (!directed)
        std::printf("  the products directed at edges\n");
    for (std::size_t i = 0; i < std::min(here.samples.size(), recorded.samples.size()); ++i)
        if (here.samples[i] != recorded.samples[i]) {
            std::printf("  product %zu, word %zu: here %s, H200 %s\n", i, word_of_sample(MatrixForm(form), i),
                        here.samples[i].c_str(), recorded.samples[i].c_str());
            break;
        }
    return false;
}

std::uint64_t products_for(const MatrixForm& form, const Options& options) {
    if (form.load)
        return 1;
    return options.sums ? (options.sums + form.sums() - 1) / form.sums() : 128;
}

int run_all(const Options& options) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "matrix: no CUDA device; put the emulator's libraries in front\n");
        return workbook::exit_code::device_lacks;
    }
    std::vector<RecordLine> lines = hardware::read_record(options.file);
    unsigned passed = 0, failed = 0;
    for (RecordLine& line : lines) {
        if (line.arguments.empty() || line.arguments.find(options.only) == std::string::npos)
            continue;
        try {
            Runner runner(line.arguments);
            if (options.record) {
                const std::uint64_t chunks = runner.form().load ? 1 : options.chunks;
                line.result = run(runner, products_for(runner.form(), options), chunks).text();
                ++passed;
                continue;
            }
            const Result recorded = result_of(line.result);
            const Result here = run(runner, recorded.products, recorded.digests.size());
            ++(same(line.arguments, here, recorded) ? passed : failed);
        } catch (const workbook::CudaError& error) {
            std::printf("%s: %s\n", line.arguments.c_str(), error.what());
            if (workbook::is_sticky(error.code()))
                return workbook::exit_code::failed;
            ++failed;
        }
    }
    if (options.record)
        hardware::write_record(options.file, lines);
    std::printf("[summary] %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed ? workbook::exit_code::failed : workbook::exit_code::ok;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
        if (!options.help)
            return run_all(options);
        std::fputs(help.data(), stdout);
        return workbook::exit_code::ok;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "matrix: %s\n", error.what());
        return workbook::exit_code::usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "matrix: %s\n", error.what());
        return workbook::exit_code::failed;
    }
}
