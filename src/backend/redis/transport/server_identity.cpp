#include "backend/redis/transport/server_identity.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

#include "backend/redis/transport/server_info.hpp"
#include "base/number.hpp"
#include "base/words.hpp"

namespace holdfast::redis {

namespace {

// "name=value" in a list; empty: it is not there.
std::string_view part_of(std::string_view list, std::string_view name, char separator) {
  while (!list.empty()) {
    const std::string_view part = base::next_word(list, separator);
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return part.substr(name.size() + 1);
  }
  return {};
}

// Nothing: it does not say, or its clock was set back meanwhile.
std::optional<std::chrono::seconds> lag_in(std::string_view replica) noexcept {
  const auto count = base::whole_number<std::uint32_t>(part_of(replica, "lag", ','));
  if (!count) return std::nullopt;
  return std::chrono::seconds{*count};
}

// It is a run of zeros where there is none.
std::string history_in(std::string_view info, std::string_view field) {
  const std::string_view id = info_field(info, field);
  return id.find_first_not_of('0') == std::string_view::npos ? std::string() : std::string(id);
}

}  // namespace

void read_server(std::string_view info, server_identity& out) {
  out.run_id = info_field(info, "run_id");
  read_version(info_field(info, "redis_version"), out);
  // Valkey has a name of its own for it.
  for (const std::string_view field : {"redis_mode", "server_mode"})
    out.is_sentinel = out.is_sentinel || info_field(info, field) == "sentinel";
}

void read_role(std::string_view role, server_identity& out) {
  if (role == "master") out.role = server_role::master;
  if (role == "slave" || role == "replica") out.role = server_role::replica;
}

void read_version(std::string_view version, server_identity& out) {
  constexpr int first_with_sharded_channels = 7;
  out.has_sharded_channels = base::leading_number<int>(version) >= first_with_sharded_channels;
}

void read_replication(std::string_view info, server_identity& out) {
  read_role(info_field(info, "role"), out);
  out.history = history_in(info, "master_replid");
  out.history_before = history_in(info, "master_replid2");
  constexpr int replicas_max = 64;
  for (int i = 0; i < replicas_max; ++i) {
    const std::string_view line = info_field(info, "slave" + std::to_string(i));
    if (line.empty()) return;
    const auto lag = lag_in(line);
    if (part_of(line, "state", ',') != "online" || !lag) continue;
    const std::string_view host = part_of(line, "ip", ','), port = part_of(line, "port", ',');
    constexpr std::chrono::seconds resolution{1};
    out.replicas.push_back({std::string(host) + ':' + std::string(port), *lag + resolution});
  }
}

void read_own_end(std::string_view client_info, server_identity& out) {
  out.address = part_of(client_info, "laddr", ' ');
}

}  // namespace holdfast::redis
