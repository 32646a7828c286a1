/// @file judges.hpp
/// What most judges include, compiled once for all of them. Judges include what they use all the same:
/// `-Db_pch=false` builds without it.

#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"
#include "workbook/tile_reference.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
