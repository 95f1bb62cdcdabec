// Faults of the disk on which a store keeps its data.
#pragma once
#include "contention/fault.hpp"
#include "testkit/servers/small_disk.hpp"

namespace holdfast::torture {

using namespace contention;

inline constexpr const char* disk_not_filled = "disk.full: this user may mount no file system";
inline constexpr const char* disk_always_writable =
    "disk.read-only: this user may mount no file system";

// Blocks until there is room again.
void fill_for_a_while(const testkit::small_disk&, dice&);
// For programs that start meanwhile. Blocks until it is writable again.
void forbid_writes_for_a_while(const testkit::small_disk&, dice&);

}  // namespace holdfast::torture
