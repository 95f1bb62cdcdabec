#include "backend/memory/transport.hpp"

#include <algorithm>

namespace holdfast::memory {

namespace {

constexpr std::size_t batch_max = 4096;  // messages and wakes under one hold of the mutex
constexpr duration window_min = std::chrono::milliseconds{250};

}  // namespace

void server::sky_changed() {
  calm = sky.calm();
  for (link* const l : links) l->see_sky();
}

void server::tell_restart(crier& cry, const link* only) {
  data.for_each_endpoint([&](endpoint& p) {
    auto& who = static_cast<listener&>(p);
    if (only && &who.home() != only) return;
    who.home().deliver(who, {push::hint::restarted, who.who, {}}, who.home().env().now(), cry);
  });
}

bool server::take_away(std::string_view lock, core::environment& spare, crier& cry) {
  core::environment& env = links.empty() ? spare : links.front()->env();
  const time_point now = env.now();
  outbox out;
  const bool taken = data.take_away(lock, {}, now, env, out);
  link::post(out, now, cry);
  return taken;
}

link::link(std::shared_ptr<server> s, core::environment& env, const terms& t)
    : server_(std::move(s)), env_(env), terms_(t) {
  const std::lock_guard lock(server_->mutex);
  server_->links.push_back(this);
  see_sky();
}

link::~link() {
  if (forked_) return;
  std::unique_ptr<core::alarm> ending;
  {
    const std::lock_guard lock(server_->mutex);
    std::erase(server_->links, this);
    ending = std::move(alarm_);
  }
}

void link::send(correspondent& from, entry& lock, request& r, time_point now, crier& cry) {
  r.window = terms_.runs_out ? std::min(r.ttl, std::max(8 * round_trip_, window_min)) : r.ttl;
  if (!calm()) return send_in_weather(from, &lock, r, now, cry);
  outbox out;
  const reply answered = server_->data.apply(lock, r, now, env_, out);
  from.hear(answered, now, cry);
  if (!out.letters().empty()) post(out, now, cry);
}

void link::send(errand& from, time_point now, crier& cry) {
  request r;
  r.sent = now;
  send_in_weather(from, nullptr, r, now, cry);
}

void link::send_in_weather(correspondent& from, entry* lock, const request& r, time_point now,
                           crier& cry) {
  const bool lost = sky_.takes_request() || server_->sky.takes_request();
  if (lost || cut(now)) return;
  const time_point due = arrival(now);
  if (due <= now && up_.empty()) return arrive(from, lock, r, now, cry);
  auto more = r.more ? std::make_unique<const particulars>(*r.more) : nullptr;
  up_.push_back({up_.empty() ? due : std::max(due, up_.back().due), &from, lock, r, nullptr});
  up_.back().what.more = more.get();
  up_.back().more = std::move(more);
  ++from.under_way_;
  set_alarm();
}

time_point link::arrival(time_point now) const noexcept {
  return core::saturating_add(core::saturating_add(now, sky_.latency), server_->sky.latency);
}

void link::arrive(correspondent& from, entry* lock, const request& r, time_point now, crier& cry) {
  if (server_->sky.outage || sky_.outage) return;
  outbox out;
  reply answered;
  answered.sent = r.sent;
  if (lock) {
    answered = server_->data.apply(*lock, r, now, env_, out);
  } else {
    static_cast<errand&>(from).at_store(server_->data, now, env_, out);
  }
  answer(from, answered, now, cry);
  if (!out.letters().empty()) post(out, now, cry);
}

void link::answer(correspondent& to, const reply& r, time_point now, crier& cry) {
  if (sky_.takes_reply() || server_->sky.takes_reply()) return;
  const time_point due = arrival(now);
  if (due <= now && down_.empty()) return to.hear(r, now, cry);
  down_.push_back({down_.empty() ? due : std::max(due, down_.back().due), &to, nullptr, r, {}});
  ++to.under_way_;
  set_alarm();
}

void link::post(const outbox& out, time_point now, crier& cry) {
  for (const outbox::letter& one : out.letters()) {
    auto& who = static_cast<listener&>(*one.to);
    who.home().deliver(who, one.what, now, cry);
  }
}

void link::deliver(listener& to, const push& p, time_point now, crier& cry) {
  if (calm()) return to.hear(p, now, cry);
  if (cut(now) || sky_.outage || server_->sky.outage) return;  // but it is no reply, to be lost
  const time_point due = arrival(now);
  if (due <= now && down_.empty()) return to.hear(p, now, cry);
  down_.push_back({down_.empty() ? due : std::max(due, down_.back().due), &to, &to, {}, p});
  ++static_cast<correspondent&>(to).under_way_;
  set_alarm();
}

void link::move_wake(correspondent& who, time_point t) {
  if (who.wakes_at_ != core::never) sleepers_.erase(sleeper_of(who));
  who.wakes_at_ = t;
  who.wake_order_ = ++wakes_;
  if (t != core::never) sleepers_.insert(sleeper_of(who));
  set_alarm();
}

void link::forget(correspondent& who) noexcept {
  if (who.wakes_at_ != core::never) sleepers_.erase(sleeper_of(who));
  who.wakes_at_ = core::never;
  if (who.under_way_ == 0) return;
  std::erase_if(up_, [&](const upward& m) { return m.from == &who; });
  std::erase_if(down_, [&](const downward& m) { return m.to == &who; });
  who.under_way_ = 0;
}

void link::sever(bool yes) noexcept {
  severed_ = yes;
  if (yes) {
    for (const upward& m : up_) --m.from->under_way_;
    for (const downward& m : down_) --m.to->under_way_;
    up_.clear();
    down_.clear();
  }
  see_sky();
}

void link::set_sky(const weather& w) noexcept {
  sky_ = w;
  see_sky();
}

void link::stop_after(time_point t) noexcept {
  stops_at_ = t;
  see_sky();
}

void link::see_sky() noexcept {
  calm_ = sky_.calm() && !severed_ && stops_at_ == core::never;
  is_out_.store(severed_ || sky_.outage || server_->sky.outage, std::memory_order_relaxed);
}

bool link::set_alarm() noexcept {
  time_point next = waits_until_;
  if (!up_.empty()) next = std::min(next, up_.front().due);
  if (!down_.empty()) next = std::min(next, down_.front().due);
  if (!sleepers_.empty()) next = std::min(next, sleepers_.begin()->at);
  if (next == armed_) return true;
  if (!alarm_) alarm_ = env_.make_alarm(*this, "holdfast-memory");
  const bool rings = alarm_->set(next);
  armed_ = rings ? next : core::never;
  return rings;
}

void link::on_alarm(time_point now) {
  crier cry;
  {
    const std::lock_guard lock(server_->mutex);
    ringer_ = std::this_thread::get_id();
    armed_ = core::never;
    deliver_due(now, cry);
    if (now >= waits_until_) overdue_ = true;
    delivered_.notify_all();
    set_alarm();
  }
  cry.tell_all();  // the last act: the client may be gone afterwards
}

// Leaves the rest of a long batch to the next ring, so that news does not wait for all of it.
void link::deliver_due(time_point now, crier& cry) {
  for (std::size_t count = 0; count < batch_max; ++count) {
    if (!up_.empty() && up_.front().due <= now) {
      const upward m = std::move(up_.front());
      up_.pop_front();
      --m.from->under_way_;
      if (!cut(now)) arrive(*m.from, m.lock, m.what, now, cry);
    } else if (!down_.empty() && down_.front().due <= now) {
      const downward m = down_.front();
      down_.pop_front();
      --m.to->under_way_;
      if (cut(now)) continue;
      if (m.heeds) {
        m.heeds->hear(m.hint, now, cry);
      } else {
        const duration took = now - m.answer.sent;
        round_trip_ = round_trip_ == duration{} ? took : (7 * round_trip_ + took) / 8;
        m.to->hear(m.answer, now, cry);
      }
    } else if (!sleepers_.empty() && sleepers_.begin()->at <= now) {
      correspondent& who = *sleepers_.begin()->who;
      sleepers_.erase(sleepers_.begin());
      who.wakes_at_ = core::never;
      who.wake(now, cry);
    } else {
      return;
    }
  }
}

bool link::is_mute() const noexcept {
  return cut(env_.now()) || sky_.outage || server_->sky.outage;
}

bool link::wait(std::unique_lock<std::mutex>& lock, time_point until) {
  if (env_.now() >= until || ringer_ == std::this_thread::get_id()) return false;
  waits_until_ = until;
  overdue_ = false;
  if (set_alarm())
    delivered_.wait(lock);
  else
    overdue_ = true;
  waits_until_ = core::never;
  return !overdue_;
}

}  // namespace holdfast::memory
