// The layouts of this backend, by the names that `?layout=` has.
#pragma once
#include <memory>
#include <string_view>

#include "backend/zookeeper/layouts/layout.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

inline constexpr std::string_view default_layout = "curator";

bool is_layout(std::string_view name) noexcept;
std::string layout_names();  // "curator, ..."
// The settings outlive it.
std::unique_ptr<layout> make_layout(core::environment&, const settings&);

}  // namespace holdfast::zookeeper
