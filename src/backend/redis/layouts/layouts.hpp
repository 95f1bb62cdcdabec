// The layouts that ?layout= names. `redisson` is a family: each kind of lock has the layout that
// Redisson gives it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

inline constexpr std::string_view default_layout = "string";
inline constexpr std::string_view redisson_family = "redisson";
// That of redlock: URLs, which ?layout= does not name.
inline constexpr std::string_view layout_of_redlock = "redlock";
// Where a client has the kinds of lock that its layout lacks.
inline constexpr std::string_view other_kinds =
    ": leave ?layout= out, or use layout=redisson, in all programs that share this lock";

bool is_layout(std::string_view name) noexcept;
// The danger of a demonstration layout, which needs ?unsafe=1; empty for every other layout.
std::string_view danger_of(std::string_view layout) noexcept;
std::string layout_names();  // "string, lua"
// Makes the layouts of ?layout=: one, or one for each kind of lock. The settings outlive them.
std::vector<std::unique_ptr<layout>> make_layouts(io::client_reactor&, const settings&);

}  // namespace holdfast::redis
