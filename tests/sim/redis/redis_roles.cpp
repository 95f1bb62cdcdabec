#include "tests/sim/redis/redis_roles.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/machine/world.hpp"
#include "tests/sim/redis/redis_sentinels.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

// A client that the name has led to a replica for so long tries again after pauses that grow.
moment pause_after(moment in_vain) {
  return in_vain > 0ns ? std::min<moment>(2500ms, in_vain * 5 / 4 + 150ms) : 0ns;
}

}  // namespace

redis_roles::redis_roles(world& w, model_redis::wall_clock clock)
    : world_(w),
      pair_(
          std::move(clock), [this] { on_effects(); },
          [this](int server, std::chrono::milliseconds limit) {
            world_.later(limit, [this, server] { answer_waits(server); });
          }) {}

bool redis_roles::awaits_replicas() const { return world_.schedule.replicas > 0; }

// By the name, or by the address of one server.
int redis_roles::connect(peer& p, const std::string& host) {
  int to = named_;
  for (const int server : {0, 1})
    if (pair_.at(server).address().ip == host) to = server;
  return pair_.at(to).connect(p) * 2 + to;
}

void redis_roles::receive(int connection, std::string_view bytes) {
  const int server = server_of(connection);
  if (sentinels_) note_heir(server, bytes);
  pair_.at(server).receive(connection / 2, bytes);
}

void redis_roles::note_heir(int server, std::string_view bytes) {
  const bool is_news = server == newest_ && leading_ != newest_ && !pair_.is_replica(server);
  if (!is_news || bytes.find("holdfast-commands") == bytes.npos) return;
  is_reached_ = true;
  world_.change_server([&] { look_who_leads(fault::share::none); });
}

void redis_roles::disconnect(int connection) {
  pair_.at(server_of(connection)).disconnect(connection / 2);
}

bool redis_roles::is_connected(int connection) const {
  return pair_.at(server_of(connection)).is_connected(connection / 2);
}

void redis_roles::on_effects() {
  world_.later(world_.delay(), [this] {
    if (stands_) return;
    world_.change_server([this] { pair_.deliver_next(); });
    const auto replica = pair_.replica();
    if (!awaits_replicas() || !replica) return;
    world_.later(world_.delay(), [this, master = 1 - *replica, number = pair_.delivered()] {
      confirm(master, number);
    });
  });
}

moment redis_roles::goes_on_at(int server) const {
  return std::max(world_.server_stands_until(), stand_until_[server]);
}

// A master that is stopped reads it when it goes on.
void redis_roles::confirm(int master, std::int64_t number) {
  if (stands_) return;
  const moment from = goes_on_at(master);
  if (world_.time.now() < from)
    return world_.time.at(from, [this, master, number] { confirm(master, number); });
  world_.change_server([&] { pair_.confirm(master, number); });
}

void redis_roles::answer_waits(int server) {
  const moment from = goes_on_at(server);
  if (world_.time.now() < from)
    return world_.time.at(from, [this, server] { answer_waits(server); });
  world_.change_server([&] { pair_.answer_waits(server); });
}

void redis_roles::happen(const fault& f) {
  switch (f.what) {
    case trouble::promoted: return promote(f);
    case trouble::failed_over: return fail_over(f);
    case trouble::name_led_back: return lead_name_back(f);
    case trouble::taken_back: return take_back(f);
    case trouble::replica_emptied: return empty_replica(f);
    default: return change_id(static_cast<int>(f.whom % 2));
  }
}

// A client that has not heard of a master's first id cannot know what it continues. It recognizes a
// former master by its run_id, which is another one after a restart.
void redis_roles::change_id(int server) {
  const bool is_known = world_.all_have_seen(server, pipes_before_[server]);
  if (pair_.replica() || (server == newest_ && !is_known)) return;
  is_strange_ = is_strange_ || !is_known;
  pair_.change_id(server);
}

// A failover needs the votes of most sentinels.
bool redis_roles::begins_change() const {
  if (!pair_.replica() || is_busy_ || is_led_back_) return false;
  return !sentinels_ || sentinels_->begin_failover();
}

void redis_roles::lead_name_to(int server, moment changes_after, const fault& f) {
  const auto lead = [this, server, cuts = f.cuts] { lead_name_to(server, cuts); };
  if (!sentinels_) return world_.later(changes_after + f.name_follows, lead);
  sentinels_->announce(pair_.at(server).address(), changes_after, f.name_follows, lead);
}

void redis_roles::promote(const fault& f) {
  const auto to = pair_.replica();
  if (!begins_change()) return;
  is_busy_ = true;
  stands_ = f.lost > 0ns;
  if (f.stops > 0ns) stand_until_[1 - *to] = world_.time.now() + f.stops;
  const moment first = std::max({f.lost, -f.name_follows, 0ns});
  lead_name_to(*to, first, f);
  named_from_ = world_.time.now() + first + f.name_follows;
  world_.later(first, [this, to = *to, cuts = f.cuts] {
    world_.change_server([&] {
      if (!stands_) pair_.deliver_all();
      is_lossy_ = pair_.is_under_way();
      pair_.promote(to, std::exchange(stands_, false));
      // A client that has not noticed the failover before is still at this server.
      if (std::exchange(was_swapped_, false) && named_ != to)
        believe_for(window(fault::share::none));
      was_taken_back_ = false;
      begin_reign(to);
      is_reached_ = !sentinels_ && world_.has_connection_to(to);
      if (sentinels_) pair_.at(to).close_all();  // as a sentinel does
      look_who_leads(cuts);
    });
  });
  const moment lasts = first + std::max(f.lasts, f.name_follows + 1ms);
  excuse_without_replica(lasts);
  world_.later(lasts, [this, to = *to] {
    is_busy_ = false;
    if (!world_.is_healed()) demote(1 - to);
  });
}

void redis_roles::fail_over(const fault& f) {
  const auto to = pair_.replica();
  if (!begins_change()) return;
  is_busy_ = true;
  const moment first = std::max(f.lasts, -f.name_follows);
  pair_.begin_failover();
  excuse_clients(world_.time.now() + first, true);  // no write is answered before
  lead_name_to(*to, first, f);
  world_.later(first, [this, to = *to, cuts = f.cuts] {
    world_.change_server([&] {
      pair_.end_failover();
      is_lossy_ = false;
      was_swapped_ = true;
      was_taken_back_ = false;
      begin_reign(to);
      look_who_leads(cuts);
    });
  });
  world_.later(first + std::max(0ns, f.name_follows) + 1ms, [this] { is_busy_ = false; });
}

// As where a supervisor starts a killed server whose configuration and data are lost.
void redis_roles::empty_replica(const fault& f) {
  const auto emptied = pair_.replica();
  if (!emptied || is_busy_ || is_led_back_) return;
  is_busy_ = true;
  world_.change_server([this] { pair_.empty_replica(); });
  excuse_without_replica(f.lasts);
  world_.later(f.lasts, [this, server = *emptied] {
    is_busy_ = false;
    if (!world_.is_healed()) demote(server);
  });
}

// Until then no replica confirms anything; clients repeat a WAIT that was in vain after 100 ms.
void redis_roles::excuse_without_replica(moment lasts) {
  if (awaits_replicas())
    excuse_clients(world_.time.now() + lasts + 250ms + world_.time_to_reach(), true);
}

void redis_roles::begin_reign(int server) {
  newest_ = server;
  is_reached_ = false;
  written_ = pair_.at(1 - server).replication_offset();
  pipes_then_ = pipes_before_[server] = world_.pipes_made();
  is_strange_ = false;
}

void redis_roles::demote(int server) {
  world_.change_server([&] {
    if (leading_ == server)
      is_lossy_ = is_lossy_ || pair_.at(server).replication_offset() != written_;
    pair_.follow(server);
    if (sentinels_) pair_.at(server).close_all();  // as a sentinel does
    is_strange_ = false;
    look_who_leads(fault::share::none);
  });
}

// A client that has seen the other server only goes on there, as nothing tells it. So does a client
// that cannot recognize that server.
void redis_roles::lead_name_back(const fault& f) {
  if (is_led_back_ || stands_ || leading_ != newest_ || named_ != newest_ || is_strange_) return;
  if (!world_.all_have_seen(newest_, pipes_then_)) return;
  is_led_back_ = true;
  lead_name_to(1 - newest_, fault::share::none);
  excuse_clients(world_.time.now() + f.lasts + pause_after(f.lasts), false);
  constexpr double shares[] = {0, 0.5, 1};
  world_.cut_connections_to(newest_, shares[static_cast<int>(f.cuts)]);
  world_.later(f.lasts, [this] {
    is_led_back_ = false;
    lead_name_to(newest_, fault::share::none);
  });
}

// The writes of the new one since then are lost.
void redis_roles::take_back(const fault& f) {
  if (pair_.replica() || is_led_back_ || leading_ != newest_ || named_ != newest_) return;
  const int old = 1 - newest_;
  world_.change_server([&] {
    begin_reign(old);
    pair_.follow(1 - old);
    is_lossy_ = was_taken_back_ = true;
    was_swapped_ = false;
    look_who_leads(f.cuts);
  });
  lead_name_to(old, f.cuts);
}

void redis_roles::lead_name_to(int server, fault::share cuts) {
  constexpr double shares[] = {0, 0.5, 1};
  named_ = server;
  named_since_ = world_.time.now();
  pipes_named_ = world_.pipes_made();
  excuse_clients(world_.time.now(), false);
  world_.cut_connections_to(1 - server, shares[static_cast<int>(cuts)]);
  world_.change_server([&] { look_who_leads(cuts); });
}

void redis_roles::look_who_leads(fault::share cuts) {
  const bool counts = named_ == newest_ || is_reached_ || pair_.is_replica(leading_);
  if (leading_ == newest_ || !counts) return;
  const bool wrote_more = pair_.at(leading_).replication_offset() != written_;
  is_lossy_ = is_lossy_ || (wrote_more && !was_swapped_);
  const moment ahead = named_ == newest_ ? 0ns : named_from_ - world_.time.now();
  believe_for(std::max<moment>(ahead, 0ns) + window(cuts));
  leading_ = newest_;
  excuse_clients(world_.time.now(), true);
  excuse_those_left_at(newest_);
  if (is_lossy_) on_loss();
}

// Not at all where a grant counts once the replica has it: docs/sentinel.md.
void redis_roles::believe_for(moment window) {
  if (!awaits_replicas()) world_.watch->moved(window);
}

// A client that has been at this server since it led before sees nothing of the leases that have
// ended elsewhere meanwhile: its waiters check when those end that it saw here.
void redis_roles::excuse_those_left_at(int server) {
  const moment ends = world_.time.now() + world_.lease_max() + 500ms;
  const int made_until = named_ == server ? pipes_named_ : world_.pipes_made();
  for (const machine* const m : world_.clients_of(server, made_until))
    world_.excused.add(*m, ends, ends, true);
}

// Each until the server that leads answers it, from then on. Where only the name changes none is
// hit: a client goes on over its connections, and is excused while one of those is missing.
void redis_roles::excuse_clients(moment from, bool hit) {
  for (const machine* const m : world_.living())
    world_.excused.add(*m, from, from + world_.schedule.op_timeout * 3 + 6s, hit);
}

// How long users of the server that led before may believe in it: docs/safety.md.
moment redis_roles::window(fault::share cuts) const {
  if (was_swapped_) return 0ns;
  const plan& p = world_.schedule;
  const bool are_all_cut = cuts == fault::share::all;
  const moment stands = std::max(stand_until_[0], stand_until_[1]) - world_.time.now();
  const bool is_troubled = std::ranges::any_of(p.faults, [](const fault& f) {
    const bool is_of_roles = f.what >= trouble::promoted || f.what == trouble::script_flush;
    return !is_of_roles || f.what == trouble::sentinel_stopped ||
           f.what == trouble::sentinel_killed;
  });
  const moment reaches = world_.time_to_reach() + pause_after(world_.time.now() - named_since_);
  const moment probes = std::max<moment>(1s, p.ttl / 3) * 5 / 4;
  if (is_troubled || stands > 0ns || was_taken_back_)
    return std::max(world_.lease_max(), stands) + reaches + probes;
  // Each client hears of it, asks all sentinels, perhaps once more after a pause, and looks at the
  // server that they name.
  if (sentinels_) return reaches * 2 + 150ms;
  return are_all_cut ? reaches : reaches + probes;
}

// The old master may remain a second master forever, unless clients need a replica.
void redis_roles::heal() {
  world_.change_server([this] {
    stands_ = false;
    pair_.end_failover();
    pair_.deliver_all();
    named_ = newest_;
    look_who_leads(fault::share::none);
    const bool follows = world_.chance.chance(0.7);
    if (follows || awaits_replicas()) pair_.follow(1 - newest_);
    if (const auto to = pair_.replica()) pair_.confirm(1 - *to, pair_.delivered());
  });
}

// An old master that restarts beside the new one is not distinguishable from one that an operator
// returned to.
void redis_roles::restart() {
  if (!pair_.replica()) return;
  pipes_before_[leading_] = world_.pipes_made();
  world_.change_server([this] { pair_.restart(leading_); });
}

}  // namespace holdfast::sim
