#include "tests/sim/redis/redisson_view.hpp"

#include <charconv>
#include <limits>

#include "backend/redis/layouts/redisson/family.hpp"

namespace holdfast::sim {

namespace {

constexpr std::string_view as_writer = ":write", group_prefix = "readers:";

std::int64_t whole(std::string_view text) {
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

owner_is redisson_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  return redis::redisson::is_owner(owner) ? owner_is::claim : owner_is::foreign;
}

std::string_view redisson_view::claim_in(std::string_view id) const {
  return id.ends_with(as_writer) ? id.substr(0, id.size() - as_writer.size()) : id;
}

std::optional<owner_seen> redisson_view::owner_at(int lock) const {
  const auto owners = server().fields_at(key_of(lock));
  if (owners.empty()) return std::nullopt;
  return owner_seen{owners.front(), *server().end_of(key_of(lock))};
}

int redisson_view::holds_of(int lock, std::string_view id) const {
  return static_cast<int>(whole(server().field_at(key_of(lock), id)));
}

std::vector<std::string_view> redisson_fair_view::queue_at(int lock) const {
  return server().items_at(redis::redisson::prefixed("redisson_lock_queue", key_of(lock)));
}

owner_is redisson_rw_view::kind_of(std::string_view owner) const {
  return owner.starts_with(group_prefix) ? owner_is::readers : redisson_view::kind_of(owner);
}

std::int64_t redisson_rw_view::number_of(std::string_view group) const {
  return group.starts_with(group_prefix) ? whole(group.substr(group_prefix.size())) : 0;
}

std::optional<owner_seen> redisson_rw_view::owner_at(int lock) const {
  const auto end = server().end_of(key_of(lock));
  if (!end) return std::nullopt;
  if (server().field_at(key_of(lock), "mode") == "read") {
    const auto number =
        server().string_at(redis::redisson::prefixed("redisson_lock_token", key_of(lock)));
    group_ = std::string(group_prefix) + std::string(number ? number->text : "");
    return owner_seen{group_, *end};
  }
  for (const std::string_view field : server().fields_at(key_of(lock)))
    if (field.ends_with(as_writer)) return owner_seen{field, *end};
  return std::nullopt;
}

std::vector<std::pair<std::string_view, double>> redisson_rw_view::members_at(int lock) const {
  std::vector<std::pair<std::string_view, double>> out;
  for (const std::string_view field : server().fields_at(key_of(lock))) {
    if (field == "mode" || field.ends_with(as_writer)) continue;
    std::int64_t end_ms = 0;
    for (std::int64_t n = whole(server().field_at(key_of(lock), field)); n > 0; --n) {
      const std::string hold = std::string(field) + ":rwlock_timeout:" + std::to_string(n);
      end_ms = std::max(end_ms,
                        server().end_of(redis::redisson::suffixed(key_of(lock), hold)).value_or(0));
    }
    constexpr std::int64_t us_in_ms = 1000;
    const bool is_endless = end_ms > std::numeric_limits<std::int64_t>::max() / us_in_ms - 1;
    out.emplace_back(field, is_endless ? static_cast<double>(end_ms)
                                       : static_cast<double>((end_ms + 1) * us_in_ms));
  }
  return out;
}

}  // namespace holdfast::sim
