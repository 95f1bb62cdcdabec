// The layouts that ?layout= names.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

inline constexpr std::string_view default_layout = "string";

bool is_layout(std::string_view name) noexcept;
std::string layout_names();  // "string, lua"
// Of a name for which is_layout() is true. The settings outlive it.
std::unique_ptr<layout> make_layout(std::string_view name, transport_group&, const settings&);

}  // namespace holdfast::redis
