#include "tests/sim/redis/redis_sentinels.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

redis_sentinels::redis_sentinels(world& w, const model_redis::wall_clock& clock,
                                 const server_address& master, const server_address& replica)
    : world_(w),
      group_(clock, w.schedule.sentinels, master, {replica}),
      all_(static_cast<std::size_t>(w.schedule.sentinels)),
      master_(master) {
  // Clients ask the sentinels first.
  w.excused.add(w.time_to_reach() * 4 + 1s);
}

int redis_sentinels::number_of(const std::string& host) const {
  for (int i = 0; i < group_.count(); ++i)
    if (group_.at(i).address().ip == host) return i;
  return -1;
}

std::string redis_sentinels::hosts() const {
  std::string out;
  for (int i = 0; i < group_.count(); ++i) out += (i > 0 ? "," : "") + group_.at(i).address().ip;
  return out;
}

bool redis_sentinels::accepts(const std::string& host) const {
  const auto number = static_cast<std::size_t>(number_of(host));
  return all_[number].killed_until <= world_.time.now();
}

// A client that is cut off reaches only the former master and the sentinels on its side, which have
// not received the new configuration.
bool redis_sentinels::is_reached(const std::string& host, int client) const {
  if (client != cut_client_ || world_.time.now() >= client_cut_until_) return true;
  const int number = number_of(host);
  if (number < 0) return host != master_.ip;
  return all_[static_cast<std::size_t>(number)].cut_until > world_.time.now();
}

int redis_sentinels::connect(peer& p, const std::string& host) {
  const int number = number_of(host);
  return -(group_.at(number).connect(p) * handles + number);
}

void redis_sentinels::receive(int connection, std::string_view bytes) {
  at(connection).receive(-connection / handles, bytes);
}

void redis_sentinels::disconnect(int connection) {
  at(connection).disconnect(-connection / handles);
}

bool redis_sentinels::is_connected(int connection) const {
  return at(connection).is_connected(-connection / handles);
}

bool redis_sentinels::is_in_touch(const sentinel& s) const {
  return std::max({s.stands_until, s.killed_until, s.cut_until}) <= world_.time.now();
}

bool redis_sentinels::begin_failover() {
  if (!voters_.empty()) return false;
  std::vector<int> in_touch;
  for (int i = 0; i < group_.count(); ++i)
    if (is_in_touch(all_[static_cast<std::size_t>(i)])) in_touch.push_back(i);
  if (static_cast<int>(in_touch.size()) < majority()) return false;
  for (std::size_t i = in_touch.size() - 1; i > 0; --i)
    std::swap(in_touch[i], in_touch[world_.chance.below(i + 1)]);
  in_touch.resize(static_cast<std::size_t>(majority()));
  voters_ = std::move(in_touch);
  return true;
}

void redis_sentinels::announce(const server_address& master, moment first, moment rest,
                               std::function<void()> on_majority) {
  world_.later(first, [this, master] {
    ++epoch_;
    master_ = master;
  });
  for (int i = 0; i < group_.count(); ++i) {
    const bool is_last = i == voters_.back();
    const bool votes = std::ranges::find(voters_, i) != voters_.end();
    const moment drawn = world_.chance.between(0ns, rest);
    const moment after = is_last ? rest : votes ? drawn : rest + drawn;
    world_.later(first + after, [this, i] { hear(i); });
  }
  world_.later(first + rest, [this, heard = std::move(on_majority)] {
    voters_.clear();
    heard();
  });
}

// The sentinel hears of the last failover now, or when it is back in touch.
void redis_sentinels::hear(int number) {
  sentinel& s = all_[static_cast<std::size_t>(number)];
  s.has_missed = !is_in_touch(s);
  if (s.has_missed || epoch_ <= group_.epoch_of(number)) return;
  world_.record(event::sentinel_hears, {number, epoch_, master_.ip}, [&] {
    return "sentinel " + std::to_string(number) + " hears that " + master_.ip +
           " is the master, config-epoch " + std::to_string(epoch_);
  });
  world_.change_server([&] { group_.hear(number, master_, epoch_); });
}

void redis_sentinels::come_back(int number) {
  if (all_[static_cast<std::size_t>(number)].has_missed) hear(number);
}

void redis_sentinels::happen(const fault& f) {
  if (f.what == trouble::client_cut_off) {
    cut_client_ = static_cast<int>(f.whom);
    client_cut_until_ = world_.time.now() + f.lasts;
    return;
  }
  const int number = static_cast<int>(f.whom) % group_.count();
  sentinel& s = all_[static_cast<std::size_t>(number)];
  if (std::ranges::find(voters_, number) != voters_.end()) return;
  moment& until = f.what == trouble::sentinel_stopped  ? s.stands_until
                  : f.what == trouble::sentinel_killed ? s.killed_until
                                                       : s.cut_until;
  until = std::max(until, world_.time.now() + f.lasts);
  if (f.what == trouble::sentinel_killed)
    world_.change_server([&] { group_.at(number).restart(kept::everything); });
  world_.later(f.lasts + world_.delay(), [this, number] { come_back(number); });
}

void redis_sentinels::heal() {
  client_cut_until_ = {};
  for (sentinel& s : all_) s.stands_until = s.killed_until = s.cut_until = {};
  for (int i = 0; i < group_.count(); ++i) hear(i);
}

}  // namespace holdfast::sim
