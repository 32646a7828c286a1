#include "json.hpp"
#include "workbook/json.hpp"
#include "workbook/table.hpp"

#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

using workbook::Json;
using workbook::Table;

TEST_CASE("a table aligns its columns, counting characters and not bytes") {
    Table table({{"name"}, {"n", Table::Align::right}});
    table.add({"a", "1"});
    table.add({"a·x", "1000"});
    CHECK(table.text() == "name     n\n"
                          "----  ----\n"
                          "a        1\n"
                          "a·x   1000\n");
}

TEST_CASE("a row of the wrong length is refused") {
    Table table({{"one"}});
    CHECK_THROWS_AS(table.add({"1", "2"}), std::length_error);
}

TEST_CASE("what the writer writes, a reader reads back") {
    const std::string awkward = "quote \" backslash \\ newline \n tab \t bell \a euro \xE2\x82\xAC";
    const Json document = Json::object({{"text", awkward},
                                        {"number", -1.5},
                                        {"large", std::size_t{1} << 40},
                                        {"yes", true},
                                        {"missing", std::optional<double>()},
                                        {"present", std::optional<double>(2)},
                                        {"list", Json::array({1, "two", Json::array({})})}});
    const auto value = test_support::JsonValue::parse(document.text());
    CHECK(value["text"].string() == awkward);
    CHECK(value["number"].number() == -1.5);
    CHECK(value["large"].number() == 1099511627776.0);
    CHECK(value["yes"].boolean());
    CHECK(value["missing"].is_null());
    CHECK(value["present"].number() == 2);
    CHECK(value["list"].array().at(1).string() == "two");
    CHECK(value["list"].array().at(2).array().empty());
}

TEST_CASE("numbers that JSON does not have become null") {
    CHECK(Json(std::numeric_limits<double>::quiet_NaN()).text() == "null");
    CHECK(Json(-std::numeric_limits<double>::infinity()).text() == "null");
}
