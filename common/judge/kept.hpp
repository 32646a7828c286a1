/// @file kept.hpp
/// Of what the learner's kernel must leave as it is; keep() and expect_kept() are in judge.hpp.
#pragma once

namespace judge {

/// The arrays of a case are no longer there.
void forget_kept();

} // namespace judge
