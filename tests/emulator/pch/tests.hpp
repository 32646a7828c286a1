/// \file
/// What most tests of the emulator's inside include, compiled once for all of them. Files include what they
/// use all the same: `-Db_pch=false` builds without it.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "ptx_text.hpp"
#include "rules/check_support.hpp"
#include "support.hpp"
