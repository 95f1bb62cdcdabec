// Which paths the server takes.
#pragma once
#include <string_view>

namespace holdfast::sim::zk {

bool is_valid(std::string_view path);
bool may_be_removed(std::string_view path);  // the servers need some themselves

}  // namespace holdfast::sim::zk
