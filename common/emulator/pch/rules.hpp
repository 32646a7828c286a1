/// \file
/// What most files that find mistakes and write of them include.

#include "public.hpp"

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "rules/rule.hpp"
