#pragma once
/// \file
/// Algorithms of std::ranges (C++20, clause 25) that the emulator uses, for whole ranges. Objects, as in the
/// standard, so that no argument's namespace offers others.

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#ifndef __cpp_lib_ranges
namespace std {

namespace ranges {
namespace detail {

/// What a projection is when there is none.
struct Itself {
    template <class T>
    constexpr T&& operator()(T&& value) const noexcept {
        return std::forward<T>(value);
    }
};

template <class F, class P>
constexpr auto behind(F& f, P& projection) {
    return [&f, &projection](auto&& each) { return std::invoke(f, std::invoke(projection, each)); };
}
template <class C, class P>
constexpr auto ordered(C& before, P& projection) {
    return [&before, &projection](auto&& a, auto&& b) {
        return std::invoke(before, std::invoke(projection, a), std::invoke(projection, b));
    };
}

} // namespace detail

// What an algorithm is called with and what it returns is in the standard.
struct all_of_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::all_of(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr all_of_t all_of;

struct any_of_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::any_of(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr any_of_t any_of;

struct none_of_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::none_of(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr none_of_t none_of;

struct count_if_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::count_if(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr count_if_t count_if;

struct find_if_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::find_if(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr find_if_t find_if;

struct for_each_t {
    template <class R, class F, class P = detail::Itself>
    constexpr auto operator()(R&& range, F&& f, P&& projection = {}) const {
        return std::for_each(std::begin(range), std::end(range), detail::behind(f, projection));
    }
};
inline constexpr for_each_t for_each;

struct count_t {
    template <class R, class T, class P = detail::Itself>
    constexpr auto operator()(R&& range, const T& value, P&& projection = {}) const {
        const auto same = [&](auto&& each) { return std::invoke(projection, each) == value; };
        return std::count_if(std::begin(range), std::end(range), same);
    }
};
inline constexpr count_t count;

struct find_t {
    template <class R, class T, class P = detail::Itself>
    constexpr auto operator()(R&& range, const T& value, P&& projection = {}) const {
        const auto same = [&](auto&& each) { return std::invoke(projection, each) == value; };
        return std::find_if(std::begin(range), std::end(range), same);
    }
};
inline constexpr find_t find;

struct lower_bound_t {
    template <class R, class T, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, const T& value, C&& before = {}, P&& projection = {}) const {
        return std::lower_bound(std::begin(range), std::end(range), value, [&](auto&& each, const T& v) {
            return std::invoke(before, std::invoke(projection, each), v);
        });
    }
};
inline constexpr lower_bound_t lower_bound;

struct upper_bound_t {
    template <class R, class T, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, const T& value, C&& before = {}, P&& projection = {}) const {
        return std::upper_bound(std::begin(range), std::end(range), value, [&](const T& v, auto&& each) {
            return std::invoke(before, v, std::invoke(projection, each));
        });
    }
};
inline constexpr upper_bound_t upper_bound;

struct sort_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return std::sort(std::begin(range), std::end(range), detail::ordered(before, projection));
    }
};
inline constexpr sort_t sort;

struct stable_sort_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return std::stable_sort(std::begin(range), std::end(range), detail::ordered(before, projection));
    }
};
inline constexpr stable_sort_t stable_sort;

struct is_sorted_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return std::is_sorted(std::begin(range), std::end(range), detail::ordered(before, projection));
    }
};
inline constexpr is_sorted_t is_sorted;

struct max_element_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return std::max_element(std::begin(range), std::end(range), detail::ordered(before, projection));
    }
};
inline constexpr max_element_t max_element;

struct min_element_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return std::min_element(std::begin(range), std::end(range), detail::ordered(before, projection));
    }
};
inline constexpr min_element_t min_element;

struct binary_search_t {
    template <class R, class T, class C = std::less<>, class P = detail::Itself>
    constexpr bool operator()(R&& range, const T& value, C&& before = {}, P&& projection = {}) const {
        const auto at = lower_bound(range, value, before, projection);
        return at != std::end(range) && !std::invoke(before, value, std::invoke(projection, *at));
    }
};
inline constexpr binary_search_t binary_search;

struct copy_t {
    template <class R, class O>
    constexpr O operator()(R&& range, O out) const {
        return std::copy(std::begin(range), std::end(range), out);
    }
};
inline constexpr copy_t copy;

struct copy_if_t {
    template <class R, class O, class F>
    constexpr O operator()(R&& range, O out, F&& f) const {
        return std::copy_if(std::begin(range), std::end(range), out,
                            [&](auto&& each) { return std::invoke(f, each); });
    }
};
inline constexpr copy_if_t copy_if;

struct move_t {
    template <class R, class O>
    constexpr O operator()(R&& range, O out) const {
        return std::move(std::begin(range), std::end(range), out);
    }
};
inline constexpr move_t move;

struct transform_t {
    template <class R, class O, class F>
    constexpr O operator()(R&& range, O out, F&& f) const {
        return std::transform(std::begin(range), std::end(range), out,
                              [&](auto&& each) { return std::invoke(f, each); });
    }
};
inline constexpr transform_t transform;

struct equal_t {
    template <class R, class S, class F = std::equal_to<>>
    constexpr bool operator()(R&& a, S&& b, F&& same = {}) const {
        return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), same);
    }
};
inline constexpr equal_t equal;

struct mismatch_t {
    template <class R, class S>
    constexpr auto operator()(R&& a, S&& b) const {
        struct In {
            decltype(std::begin(a)) in1;
            decltype(std::begin(b)) in2;
        };
        const auto [in1, in2] = std::mismatch(std::begin(a), std::end(a), std::begin(b), std::end(b));
        return In{in1, in2};
    }
};
inline constexpr mismatch_t mismatch;

struct fill_t {
    template <class R, class T>
    constexpr void operator()(R&& range, const T& value) const {
        std::fill(std::begin(range), std::end(range), value);
    }
};
inline constexpr fill_t fill;

struct generate_t {
    template <class R, class F>
    constexpr void operator()(R&& range, F&& f) const {
        std::generate(std::begin(range), std::end(range), [&] { return f(); });
    }
};
inline constexpr generate_t generate;

struct replace_t {
    template <class R, class T>
    constexpr void operator()(R&& range, const T& from, const T& to) const {
        std::replace(std::begin(range), std::end(range), from, to);
    }
};
inline constexpr replace_t replace;

struct reverse_t {
    template <class R>
    constexpr void operator()(R&& range) const {
        std::reverse(std::begin(range), std::end(range));
    }
};
inline constexpr reverse_t reverse;

struct min_t {
    template <class R, class C = std::less<>, class P = detail::Itself>
    constexpr auto operator()(R&& range, C&& before = {}, P&& projection = {}) const {
        return *min_element(range, before, projection);
    }
};
inline constexpr min_t min;

struct unique_t {
    template <class R>
    constexpr auto operator()(R&& range) const {
        struct Rest {
            decltype(std::begin(range)) first, last;
            auto begin() const { return first; }
            auto end() const { return last; }
        };
        return Rest{std::unique(std::begin(range), std::end(range)), std::end(range)};
    }
};
inline constexpr unique_t unique;

} // namespace ranges
} // namespace std
#endif
