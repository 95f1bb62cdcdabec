#include "backend/redis/topologies/sentinel/sentinel.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/topologies/discovery.hpp"
#include "backend/redis/transport/probe.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t sentinels_max = 32, scouts_max = 32;
// An heir is looked for so long after a master without the data of the one before has been met.
constexpr duration stranger_pause = 1s;
// A majority announces a new master within so long after the first sentinel.
constexpr duration switch_max = 5s;

std::size_t most_replicas(std::span<const sentinel_state> all) {
  std::size_t largest = 0;
  for (const sentinel_state& s : all)
    if (s.answer) largest = std::max(largest, s.answer->replicas.size());
  return largest;
}

}  // namespace

// Looks at one server that may be the master.
struct sentinel::scout {
  scout(sentinel& home, endpoint e)
      : at(std::move(e)),
        over(
            home.reactor_, at,
            [this, &home](const server_identity& s, time_point now, event_queue& events) {
              home.on_scouted(at.where, s, now, events);
            },
            home.no_channels_) {}

  const endpoint at;
  probe over;
};

sentinel::sentinel(io::client_reactor& r, const settings& s, std::span<const script> all_scripts)
    : single(r, s, all_scripts), reactor_(r), settings_(s) {
  for (const endpoint& e : s.sentinels) add_link(e, true);
  const std::lock_guard guard(r.mutex());
  one_.await_address();
  one_.serve(watch_);
  r.add(*this);
}

sentinel::~sentinel() {
  const std::lock_guard guard(reactor_.mutex());
  reactor_.remove(*this);
}

void sentinel::open(time_point now) {
  lost_at_ = now;
  look_soon(now);
}

void sentinel::on_commands_lost(time_point now) {
  if (lost_at_ != base::never) return;
  lost_at_ = now;
  stranger_at_ = base::never;
  one_.admit_strangers(planted(mutant::stranger_joined_at_once));
  look_soon(now);
}

void sentinel::on_switch(time_point now) {
  switching_until_ = base::saturating_add(now, switch_max);
  if (!planted(mutant::announced_master_ignored)) look_soon(now);
}

void sentinel::look_soon(time_point now) {
  next_look_ = now;
  reactor_.wake_by(now);
}

bool sentinel::is_settled(time_point now) const noexcept {
  return one_.is_ready(lane::commands) && !one_.is_led_elsewhere() && switching_until_ <= now;
}

void sentinel::look_if_due(time_point now) {
  if (next_look_ == base::never) return;
  if (now < next_look_) {
    reactor_.wake_by(next_look_);
    return;
  }
  next_look_ = base::never;
  for (const auto& l : links_) l->ask(now);
  if (is_settled(now)) return;
  if (one_.has_refused_stranger()) {
    stranger_at_ = std::min(stranger_at_, now);
    if (now - stranger_at_ >= stranger_pause) one_.admit_strangers(true);
  }
  for (const auto& s : scouts_) s->over.start(now);
  const bool is_long = lost_at_ < now - failover_max;
  next_look_ = now + base::jittered(reactor_.env(), is_long ? long_look_pause : look_pause, 0.25);
  reactor_.wake_by(next_look_);
}

void sentinel::on_alarm(time_point now, event_queue& events) {
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->on_alarm(now, events);
  for (std::size_t i = 0; i < scouts_.size(); ++i) scouts_[i]->over.on_alarm(now, events);
  look_if_due(now);
}

void sentinel::flush(std::unique_lock<std::mutex>& lock, base::driven_by loop) noexcept {
  // By number: the mutex is released meanwhile, and there may be more of them afterwards.
  if (loop == base::driven_by::thread)
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->write(lock);
  else
    for (std::size_t i = 0; i < scouts_.size(); ++i)
      write_out(scouts_[i]->over.line(), lock, [](connection&) {});
}

bool sentinel::has_unattended_replies() const noexcept {
  return std::ranges::any_of(scouts_,
                             [](const auto& s) { return s->over.has_unattended_replies(); });
}

std::vector<sentinel_state> sentinel::states() const {
  std::vector<sentinel_state> out;
  for (const auto& l : links_) out.push_back(l->state());
  return out;
}

void sentinel::on_reported(time_point now, event_queue& events) {
  const std::vector<sentinel_state> all = states();
  verdict_ = judge(all, settings_.master);
  one_.note_replicas(most_replicas(all));
  if (std::string fault = priority_fault(all, one_.replicas_needed()); !fault.empty())
    verdict_ = {.why = {errc::refused, std::move(fault)}};
  add_servers();
  add_sentinels(now);
  if (verdict_.master && counts(verdict_))
    one_.lead_to(settings_.reachable(*verdict_.master), now, events);
  if (!is_settled(now) && next_look_ == base::never) look_soon(now);
  reactor_.wake_by(now);  // a thread that waits for the first connection learns the reason
}

// The promoted one has the history of the client's own master; where nothing is known of that, the
// sentinels have to name it.
void sentinel::on_scouted(const base::address& at, const server_identity& s, time_point now,
                          event_queue& events) {
  if (heir_ && is_same_address(heir_->at, at) && s.role != server_role::master) heir_.reset();
  const bool is_named = verdict_.master && counts(verdict_) &&
                        is_same_address(settings_.reachable(*verdict_.master), at);
  const bool is_heir = one_.is_heir(s) || planted(mutant::scouted_stranger_followed);
  if (s.role != server_role::master || !(is_named || is_heir)) return;
  if (!is_named) heir_ = heir{at, verdict_.epoch};
  one_.lead_to(at, now, events);
}

// Where the sentinels have not heard of a promotion that the client has followed, they name the
// master before it, which may be back without its data.
bool sentinel::counts(const sentinel_verdict& v) const {
  return !heir_ || v.epoch > heir_->epoch ||
         is_same_address(settings_.reachable(*v.master), heir_->at) ||
         planted(mutant::heir_forgotten);
}

// Only once those of the URL have been tried: most of the others are the same sentinels.
void sentinel::add_sentinels(time_point now) {
  const auto is_tried = [](const auto& l) { return l->has_been_tried(); };
  if (!std::ranges::all_of(links_, is_tried)) return;
  const auto is_known = [&](const sentinel_peer& p) {
    return std::ranges::any_of(links_, [&](const auto& l) {
      return is_same_address(l->where(), p.at) ||
             (l->state().answer && l->state().answer->id == p.id);
    });
  };
  std::vector<sentinel_peer> found;
  for (const auto& l : links_)
    if (l->state().answer && l->state().answer->others)
      for (const sentinel_peer& p : *l->state().answer->others)
        found.push_back({p.id, settings_.reachable(p.at)});
  for (const sentinel_peer& p : found) {
    if (is_known(p) || links_.size() >= sentinels_max || p.at.port == 0) continue;
    endpoint e = settings_.sentinels.front();
    e.move_to(p.at);
    add_link(std::move(e), false);
    links_.back()->ask(now);
  }
}

void sentinel::add_link(endpoint e, bool is_in_url) {
  sentinel_link::listener& to = *this;
  links_.push_back(
      std::make_unique<sentinel_link>(reactor_, std::move(e), is_in_url, settings_.master, to));
}

void sentinel::add_servers() {
  if (verdict_.master) add_server(settings_.reachable(*verdict_.master));
  for (const auto& l : links_)
    if (l->state().answer)
      for (const known_replica& r : l->state().answer->replicas)
        add_server(settings_.reachable(r.at));
}

void sentinel::add_server(const base::address& at) {
  const auto is_it = [&](const auto& s) { return is_same_address(s->at.where, at); };
  if (at.port == 0 || scouts_.size() >= scouts_max || std::ranges::any_of(scouts_, is_it)) return;
  endpoint e = settings_;
  e.move_to(at);
  scouts_.push_back(std::make_unique<scout>(*this, std::move(e)));
}

failure sentinel::why_not_open(bool is_overdue) const {
  const bool may_come = std::ranges::any_of(links_, [](const auto& l) {
    return !l->has_been_tried() || !l->has_failed_for_good();
  });
  const failure of_server = one_.why_not_open(is_overdue);
  // The master that they name may be down, and a failover on its way.
  if (verdict_.master)
    return is_overdue || of_server.code != errc::unavailable ? of_server : failure();
  if (verdict_.why.code != errc::unavailable && verdict_.why.code) return verdict_.why;
  if (is_overdue || !may_come) return verdict_.why.code ? verdict_.why : of_server;
  return {};
}

seam::connection_status sentinel::status() const {
  seam::connection_status out = one_.read_status();
  if (out.trouble.code && verdict_.why.code) out.trouble.text += "; " + verdict_.why.text;
  return out;
}

}  // namespace holdfast::redis
