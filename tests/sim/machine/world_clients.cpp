// The clients of a world and their users.
#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "tests/sim/machine/user_of_one.hpp"
#include "tests/sim/machine/user_of_several.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

int world::processes_max() const noexcept {
  return schedule.clients + schedule.count(trouble::process_replaced) +
         schedule.count(trouble::process_added);
}

void world::open_client() {
  const std::string options =
      "ttl=" + std::to_string(schedule.ttl.count()) +
      "ms&op-timeout=" + std::to_string(schedule.op_timeout.count()) +
      "ms&connect-timeout=" + std::to_string(schedule.op_timeout.count()) +
      "ms&turns=" + std::to_string(schedule.turns) +
      "&linger=" + std::to_string(schedule.linger.count()) + "ms&outage-timeout=" +
      (schedule.outage_timeout > 0ms ? std::to_string(schedule.outage_timeout.count()) + "ms"
                                     : "none");
  const int number = static_cast<int>(processes_.size());
  process& p = processes_.emplace_back();
  const double rate = 0.991 + chance.share() * 0.018;
  p.where = std::make_unique<machine>(*this, number, rate, chance.between(1s, 1000s));
  p.where->client = store->name_of_client(number);
  if (time.now() < recovered_) excused.add(*p.where, time.now(), recovered_, true);
  p.runs = detail::client_access::open(url::parse(store->url(number) + options), {}, *p.where, {},
                                       store->schemes());
  for (int u = 0; u < schedule.users; ++u) {
    p.users.push_back(make_user(p, users_made_++));
    p.users.back()->begin();
  }
}

lock_kind world::kind_of_locks() const {
  if (schedule.permits > 0) return lock_kind::semaphore;
  return seam::has_modes_of(lock_kind::shared_mutex, store->can()) ? lock_kind::shared_mutex
                                                                   : lock_kind::mutex;
}

std::unique_ptr<user> world::make_user(process& p, int number) {
  const auto slot_of = [&](int lock) {
    return &detail::client_access::impl(*p.runs).local_lock_for(lock_name(lock), kind_of_locks(),
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

void world::inspect() {
  process& p = processes_[chance.below(processes_.size())];
  const int lock = static_cast<int>(chance.below(static_cast<std::uint64_t>(schedule.locks)));
  if (p.where->is_dead()) return;
  // Every second one lists the locks.
  const int one = inspections_.size() % 2 == 1 ? -1 : lock;
  inspections_.push_back(std::make_unique<inspection>(*this, p.where->number(), one, time.now()));
  p.where->post(time.now(), [this, &p, to = inspections_.back().get()] {
    if (!p.runs) return;
    const seam::store_family& stores = detail::client_access::impl(*p.runs).stores();
    to->lock < 0 ? stores.inspect({}, *to) : stores.holders(lock_name(to->lock), *to);
  });
}

void world::inspection::on_result(std::vector<holder> found) {
  if (lock >= 0) return show(lock, found);
  for (int i = 0; i < home.schedule.locks; ++i) show(i, found);
}

void world::inspection::show(int one, const std::vector<holder>& found) {
  std::vector<std::string> owners;
  for (const holder& h : found)
    if (h.name == home.lock_name(one)) owners.push_back(h.owner);
  home.record(event::holders_shown, {client, one, owners.size()}, [&] {
    std::string out = "client " + std::to_string(client) + " is shown the holders of " +
                      home.lock_name(one) + ':';
    for (const std::string& owner : owners) out += ' ' + owner;
    return out;
  });
  home.watch->shown(one, owners, lock >= 0 || !home.store->can().shown_by_renewal, begun);
}

// By an operator, over a client's connections, where the store offers it.
void world::prune() {
  process& p = processes_[chance.below(processes_.size())];
  if (p.where->is_dead()) return;
  prunings_.push_back(std::make_unique<pruning>(*this, p.where->number()));
  p.where->post(time.now(), [&p, to = prunings_.back().get()] {
    if (!p.runs) return;
    const seam::store_family& stores = detail::client_access::impl(*p.runs).stores();
    if (auto* const unused = stores.first().find<seam::unused_locks>()) unused->remove_unused(*to);
  });
}

void world::pruning::on_result(std::size_t count) {
  home.record(event::locks_pruned, {client, count}, [&] {
    return "client " + std::to_string(client) + " has removed " + std::to_string(count) +
           " expired locks";
  });
}

// Each may arrive when the lock has had other holders.
void world::send_writes(int lock, const detail::turn& t) {
  for (int n = 0; n < schedule.writes; ++n) {
    const moment wait = chance_of_writes_.between(0ns, schedule.ttl * 3);
    later(wait, [this, lock, claim = store->claim_of(t), token = t.token] {
      const bool is_admitted = resources_[static_cast<std::size_t>(lock)].admit(token, claim);
      record(event::write_lands, {lock, token, is_admitted}, [&] {
        return "a write with token " + std::to_string(token) + " reaches the resource of " +
               lock_name(lock) + ", and is " + (is_admitted ? "admitted" : "refused");
      });
      watch->wrote(lock, claim, token, is_admitted);
    });
  }
}

bool world::acts(std::string_view client) const {
  for (const process& p : processes_)
    if (!p.where->is_dead() && p.where->client == client) return !p.where->is_paused();
  return false;
}

std::vector<const machine*> world::living() const {
  std::vector<const machine*> out;
  each_living([&](const machine& m) { out.push_back(&m); });
  return out;
}

const machine* world::machine_of(std::string_view client) const {
  if (client.empty()) return nullptr;
  for (const process& p : processes_)
    if (p.where->client == client) return p.where.get();
  return nullptr;
}

moment world::first_to_wait(const machine& where, int lock) const {
  moment out = moment::max();
  for (const process& p : processes_)
    if (p.where.get() == &where)
      for (const auto& u : p.users) out = std::min(out, u->waits_alone_since(lock));
  return out;
}

int world::users_waiting(int lock, std::string_view client) const {
  int n = 0;
  for (const process& p : processes_) {
    if (p.where->is_dead() || p.where->is_paused()) continue;
    if (!client.empty() && p.where->client != client) continue;
    if (client.empty() && excused.covers(*p.where)) continue;
    if (client.empty() && watch->is_kept_by_a_loser(lock, *p.where)) continue;
    for (const auto& u : p.users) n += u->may_wait_for(lock, client.empty());
  }
  return n;
}

int world::users_waiting(int lock, const machine& of, bool surely) const {
  if (of.is_dead() || of.is_paused()) return 0;
  int n = 0;
  for (const auto& u : processes_[static_cast<std::size_t>(of.number())].users)
    n += u->may_wait_for(lock, surely);
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
  if (!healed_ || !judges(rule::served)) return;
  for (const process& p : processes_)
    for (const auto& u : p.users)
      if (u->waits(time.now(), healed_at_) > wait_limit_)
        complain(rule::served, "a user has waited for " +
                                   std::to_string(wait_limit_.count() / 1000000) +
                                   " ms though all is well");
}

void world::check_bounds() {
  if (!judges(rule::bound)) return;
  for (const process& p : processes_)
    for (const auto& u : p.users) {
      if (const moment more = u->exceeds(time.now()); more > 0ns)
        complain(rule::bound, "a user waits " + std::to_string(more.count() / 1'000'000) +
                                  " ms beyond its bound");
      if (u->release_exceeds(time.now()) > 0ns)
        complain(rule::bound, "a release was not answered within the op-timeout");
    }
}

// One process after the other ends. Those that are left go on meanwhile.
void world::close_all() {
  is_calm_ = true;
  for (process& p : processes_)
    if (is_content() && !p.where->is_dead()) close(p);
  // What crashed clients have written may arrive late, and has a lease then.
  const moment end = time.now() + long_wait_max() + lease_max() + 1s;
  run_until(end);
  time.pass_to(end);
  if (is_content())
    watch->all_closed(schedule.has(trouble::crash) || schedule.has(trouble::process_replaced));
}

void world::close(process& p) {
  for (const auto& u : p.users) u->end();
  p.where->begin_closing();
  const bool is_clean = p.runs->close();
  p.where->end_closing();
  record(event::closed, {p.where->number(), is_clean}, [&] {
    return "client " + std::to_string(p.where->number()) + " is closed, " +
           (is_clean ? "and leaves nothing" : "and may leave something");
  });
  watch->closes(*p.where, is_clean);
  p.runs.reset();
  p.where->die();
}

}  // namespace holdfast::sim
