// The clients of a world and their users.
#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "tests/sim/machine/user_of_one.hpp"
#include "tests/sim/machine/user_of_several.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

void world::open_clients() {
  const std::string options =
      "ttl=" + std::to_string(schedule.ttl.count()) +
      "ms&op-timeout=" + std::to_string(schedule.op_timeout.count()) +
      "ms&connect-timeout=" + std::to_string(schedule.op_timeout.count()) +
      "ms&turns=" + std::to_string(schedule.turns) +
      "&linger=" + std::to_string(schedule.linger.count()) + "ms&outage-timeout=" +
      (schedule.outage_timeout > 0ms ? std::to_string(schedule.outage_timeout.count()) + "ms"
                                     : "none");
  int number = 0;
  for (int i = 0; i < schedule.clients; ++i) {
    process p;
    const double rate = 0.991 + chance.share() * 0.018;
    p.where = std::make_unique<machine>(*this, i, rate, chance.between(1s, 1000s));
    p.where->client = store->name_of_client(i);
    p.runs = detail::client_access::open(url::parse(store->url(i) + options), {}, *p.where);
    for (int u = 0; u < schedule.users; ++u) {
      p.users.push_back(make_user(p, number++));
      p.users.back()->begin();
    }
    processes_.push_back(std::move(p));
  }
}

std::unique_ptr<user> world::make_user(process& p, int number) {
  const auto slot_of = [&](int lock) {
    return &detail::client_access::impl(*p.runs).local_lock_for(lock_name(lock),
                                                                static_cast<std::uint32_t>(
                                                                    schedule.permits));
  };
  const int lock = static_cast<int>(chance.below(static_cast<std::uint64_t>(schedule.locks)));
  if (!schedule.several || !chance.chance(0.6))
    return std::make_unique<user_of_one>(*this, *p.where, *slot_of(lock), number, lock);
  std::vector<detail::local_lock*> all;
  for (int i = 0; i < schedule.locks; ++i) all.push_back(slot_of(i));
  return std::make_unique<user_of_several>(*this, *p.where, std::move(all), number);
}

bool world::acts(std::string_view client) const {
  for (const process& p : processes_)
    if (!p.where->is_dead() && p.where->client == client) return !p.where->is_paused();
  return false;
}

int world::users_waiting(int lock, std::string_view client) const {
  int n = 0;
  for (const process& p : processes_) {
    if (p.where->is_dead() || p.where->is_paused()) continue;
    if (!client.empty() && p.where->client != client) continue;
    if (client.empty() && watch->is_kept_by_a_loser(lock, *p.where)) continue;
    for (const auto& u : p.users) n += u->may_wait_for(lock, client.empty());
  }
  return n;
}

bool world::all_served() const {
  for (const process& p : processes_) {
    if (p.where->is_dead()) continue;
    for (const auto& u : p.users)
      if (!u->is_served()) return false;
  }
  return true;
}

void world::check_waits() {
  if (!healed_) return;
  for (const process& p : processes_)
    for (const auto& u : p.users)
      if (u->waits(time.now(), healed_at_) > patience_)
        complain("served: a user has waited for " + std::to_string(patience_.count() / 1000000) +
                 " ms though all is well");
}

void world::check_bounds() {
  for (const process& p : processes_)
    for (const auto& u : p.users)
      if (const moment more = u->exceeds(time.now()); more > 0ns)
        complain("bound: a user waits " + std::to_string(more.count() / 1'000'000) +
                 " ms beyond its bound");
}

void world::close_all() {
  for (process& p : processes_) {
    if (p.where->is_dead()) continue;
    for (const auto& u : p.users) u->end();
    const bool is_settled = p.runs->close() || !store->settles_at_close();
    if (!is_settled && !schedule.kill_forbidden && schedule.slow_share == 0 && !schedule.parts_wait)
      complain("left: a client leaves something behind though all is well");
    p.runs.reset();
  }
}

}  // namespace holdfast::sim
