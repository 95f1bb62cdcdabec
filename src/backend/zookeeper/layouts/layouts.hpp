// The layouts of this backend, by the names that `?layout=` has. `curator` is a family:
// each kind of lock has the layout that Curator gives it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/layouts/layout.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

inline constexpr std::string_view default_layout = "curator";
// Where a client has the kinds of lock that its layout lacks.
inline constexpr std::string_view other_kinds =
    ": use layout=curator, in all programs that share this lock";

bool is_layout(std::string_view name) noexcept;
// The danger of a demonstration layout, which needs ?unsafe=1; empty for every other layout.
std::string_view danger_of(std::string_view layout) noexcept;
std::string layout_names();  // "curator, ..."
// Makes the layouts of ?layout=: one, or one for each kind of lock. The settings outlive them.
std::vector<std::unique_ptr<layout>> make_layouts(base::environment&, const settings&);

}  // namespace holdfast::zookeeper
