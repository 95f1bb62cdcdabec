// Where a lock stands in the tree: one node below the chroot, so that no lock lies inside another.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

// Complete: the chroot, then the name, percent-encoded where a path could not have it.
std::string lock_path(std::string_view chroot, std::string_view name);
// The name of the lock with that last part of a path. Empty: no lock of ours has it.
std::optional<std::string> lock_name(std::string_view node);
// Why no lock can have the name there; empty: one can.
std::string_view lock_name_fault(std::string_view chroot, std::string_view name) noexcept;

}  // namespace holdfast::zookeeper
