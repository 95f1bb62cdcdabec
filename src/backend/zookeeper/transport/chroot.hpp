// The part of the tree that a client sees as the whole one. The server knows nothing of it.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

// Why a server would refuse the path; empty: it would not.
std::string_view path_fault(std::string_view) noexcept;

// The commands that create the node and its missing parents: "create /a, create /a/b".
std::string creation_of(std::string_view path);

}  // namespace holdfast::zookeeper
