// The commands, a list a file.
#pragma once
#include <span>

#include "tests/sim/redis/model/command.hpp"

namespace holdfast::sim {

std::span<const command> string_commands();
std::span<const command> key_commands();
std::span<const command> sorted_set_commands();
std::span<const command> hash_commands();
std::span<const command> list_commands();
std::span<const command> client_commands();
std::span<const command> message_commands();
std::span<const command> group_commands();
std::span<const command> script_commands();
std::span<const command> server_commands();
std::span<const command> cluster_commands();
std::span<const command> sentinel_commands();

}  // namespace holdfast::sim
