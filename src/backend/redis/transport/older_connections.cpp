#include "backend/redis/transport/older_connections.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t servers_max = 16, ids_max = 64;
// A connection that got stuck may deliver what it carries this late.
constexpr base::duration kept_for = 20min;

}  // namespace

older_connections::server& older_connections::entry(std::string_view run_id) {
  server s;
  s.run_id = run_id;
  const auto old = std::ranges::find(servers_, run_id, &server::run_id);
  if (old != servers_.end()) {
    s = std::move(*old);
    servers_.erase(old);
  }
  const std::size_t limit = base::planted(base::mutant::connections_left_behind) ? 1 : servers_max;
  if (servers_.size() >= limit) servers_.erase(servers_.begin());
  return servers_.emplace_back(std::move(s));
}

const older_connections::server* older_connections::find(std::string_view run_id) const noexcept {
  const auto found = std::ranges::find(servers_, run_id, &server::run_id);
  return found == servers_.end() ? nullptr : &*found;
}

void older_connections::add(std::string_view run_id, std::int64_t id, base::time_point now) {
  server& s = entry(run_id);
  s.last = now;
  if (id == 0 || s.ids.size() == ids_max) {
    s.has_unknown = true;
  } else {
    s.ids.push_back(id);
  }
}

void older_connections::remove(std::string_view run_id, std::int64_t id) {
  const auto found = std::ranges::find(servers_, run_id, &server::run_id);
  if (found != servers_.end()) std::erase(found->ids, id);
}

std::vector<std::int64_t> older_connections::of(std::string_view run_id, base::time_point now) {
  std::erase_if(servers_, [&](const server& s) { return now - s.last > kept_for; });
  const server* const s = find(run_id);
  return s ? s->ids : std::vector<std::int64_t>();
}

bool older_connections::is_clear(std::string_view run_id) const noexcept {
  const server* const s = find(run_id);
  return !s || (s->ids.empty() && !s->has_unknown);
}

}  // namespace holdfast::redis
