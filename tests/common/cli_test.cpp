#include "workbook/cli.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <string>
#include <vector>

using Catch::Matchers::Message;
using workbook::UsageError;

namespace {
workbook::ProgramOptions parse(std::vector<std::string> words) {
    std::vector<char*> args;
    for (std::string& word : words)
        args.push_back(word.data());
    return workbook::parse_options(args, {.kernels = {"one", "two"}, .min_size = 0, .max_size = 1000});
}
} // namespace

TEST_CASE("no arguments give the defaults") {
    const auto options = parse({});
    CHECK_FALSE(options.size.has_value());
    CHECK(options.seed == 1);
    CHECK(options.kernels.empty());
    CHECK(options.json.empty());
    CHECK_FALSE(options.help);
    CHECK_FALSE(options.list);
}

TEST_CASE("options take their value from the next argument or after an equals sign") {
    const auto options = parse(
        {"--size", "0", "--seed=18446744073709551615", "--kernel", "two", "--kernel=one", "--json", "f"});
    CHECK(options.size == 0);
    CHECK(options.seed == UINT64_MAX);
    CHECK(options.kernels == std::vector<std::string>{"two", "one"});
    CHECK(options.json == "f");
    CHECK(parse({"-h"}).help);
    CHECK(parse({"--list"}).list);
}

TEST_CASE("a size that is no number in the range is refused with the range") {
    for (const char* size : {"-1", "1001", "99999999999999999999999", "", "1e3", "7x", " 7", "+7"}) {
        INFO(size);
        CHECK_THROWS_MATCHES(
            parse({"--size", size}), UsageError,
            Message("--size " + std::string(size) + ": expected a whole number from 0 to 1000"));
    }
    CHECK(parse({"--size", "1000"}).size == 1000);
}

TEST_CASE("a missing value, an unknown kernel and an unknown argument are refused") {
    CHECK_THROWS_MATCHES(parse({"--size"}), UsageError,
                         Message("--size needs a value; --help lists the options"));
    CHECK_THROWS_MATCHES(parse({"--kernel", "three"}), UsageError,
                         Message("--kernel three: there is no such kernel; choose from one, two"));
    CHECK_THROWS_MATCHES(parse({"--json="}), UsageError, Message("--json needs the name of a file"));
    CHECK_THROWS_AS(parse({"--sizes", "4"}), UsageError);
    CHECK_THROWS_AS(parse({"4"}), UsageError);
    CHECK_THROWS_AS(parse({""}), UsageError);
}
