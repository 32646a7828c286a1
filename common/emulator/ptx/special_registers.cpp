#include "ptx/special_registers.hpp"

#include <algorithm>
#include <array>

namespace emu::ptx {

namespace {

using namespace std::string_view_literals;

constexpr std::array plain_names = {
    "%tid"sv,
    "%ntid"sv,
    "%laneid"sv,
    "%warpid"sv,
    "%nwarpid"sv,
    "%ctaid"sv,
    "%nctaid"sv,
    "%smid"sv,
    "%nsmid"sv,
    "%gridid"sv,
    "%is_explicit_cluster"sv,
    "%clusterid"sv,
    "%nclusterid"sv,
    "%cluster_ctaid"sv,
    "%cluster_nctaid"sv,
    "%cluster_ctarank"sv,
    "%cluster_nctarank"sv,
    "%lanemask_eq"sv,
    "%lanemask_le"sv,
    "%lanemask_lt"sv,
    "%lanemask_ge"sv,
    "%lanemask_gt"sv,
    "%clock"sv,
    "%clock_hi"sv,
    "%clock64"sv,
    "%globaltimer"sv,
    "%globaltimer_lo"sv,
    "%globaltimer_hi"sv,
    "%reserved_smem_offset_begin"sv,
    "%reserved_smem_offset_end"sv,
    "%reserved_smem_offset_cap"sv,
    "%reserved_smem_offset_0"sv,
    "%reserved_smem_offset_1"sv,
    "%total_smem_size"sv,
    "%aggr_smem_size"sv,
    "%dynamic_smem_size"sv,
    "%current_graph_exec"sv,
};

/// `prefix` followed by a number from 0 to `last`, then `suffix`.
bool is_numbered(std::string_view name, std::string_view prefix, unsigned last,
                 std::string_view suffix = "") {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size())
        return false;
    const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (digits.size() > 2 || digits.find_first_not_of("0123456789") != std::string_view::npos)
        return false;
    unsigned value = 0;
    for (const char c : digits)
        value = value * 10 + static_cast<unsigned>(c - '0');
    return value <= last;
}

} // namespace

bool is_special_register(std::string_view name) {
    if (!name.starts_with('%'))
        return false;
    return std::find(plain_names.begin(), plain_names.end(), name) != plain_names.end() ||
           is_numbered(name, "%pm", 7) || is_numbered(name, "%pm", 7, "_64") ||
           is_numbered(name, "%envreg", 31);
}

} // namespace emu::ptx
