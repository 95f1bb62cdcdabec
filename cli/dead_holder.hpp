#pragma once
#include <holdfast/client.hpp>

#include <optional>
#include <string>

namespace holdfast::cli {

// Whether the process that took the lock has ended; nothing when that cannot be known from here: on
// another host, or without its number. Processes are told apart by host name and number: a
// container that has the name of its host but its own numbers is not seen from outside.
std::optional<bool> is_dead(const holder&);

// Why the lock is still held: "its lease expires in 12 s".
std::string why_still_held(const holder&);

}  // namespace holdfast::cli
