#include "backend/memory/transport.hpp"

#include <algorithm>

#include "backend/memory/memory_layout.hpp"

namespace holdfast::memory {

namespace {

constexpr std::size_t batch_max = 4096;  // messages and wake-ups per locking of the mutex
constexpr duration window_min = std::chrono::milliseconds{250};

}  // namespace

void server::faults_changed() {
  fault_free = faults.is_fault_free();
  for (transport* const l : transports) l->on_faults_changed();
}

void server::announce_restart(event_queue& events, const transport* only) {
  data.for_each_push_target([&](push_target& p) {
    auto& c = static_cast<claim&>(p);
    transport& home = c.store().over();
    if (only && &home != only) return;
    const time_point now = home.env().now();
    home.deliver(c, {push::hint::restarted, c.who, {}}, now, events);
    deliver(now, events);
  });
}

bool server::break_lock(std::string_view lock, base::environment& spare, event_queue& events) {
  base::environment& env = transports.empty() ? spare : transports.front()->env();
  const time_point now = env.now();
  const bool taken = data.break_lock(lock, {}, now, env, pushes);
  deliver(now, events);
  return taken;
}

// By index: what is delivered may append to both.
void server::deliver_outbox(time_point now, event_queue& events) {
  std::size_t answered = 0, pushed = 0;
  while (answered < answers.size() || pushed < pushes.size()) {
    if (answered < answers.size()) {
      const auto [to, answer] = answers[answered++];
      memory_layout::on_reply(static_cast<claim&>(*to), answer, now, events);
    } else {
      const push_list::addressed_push one = pushes[pushed++];
      auto& to = static_cast<claim&>(*one.to);
      to.store().over().deliver(to, one.what, now, events);
    }
  }
  answers.clear();
  pushes.clear();
}

transport::transport(std::shared_ptr<server> s, base::environment& env, const timing& t)
    : server_(std::move(s)), env_(env), terms_(t) {
  const std::lock_guard lock(server_->mutex);
  server_->transports.push_back(this);
  on_faults_changed();
}

transport::~transport() {
  if (forked_) return;
  std::unique_ptr<base::alarm> ending;
  {
    const std::lock_guard lock(server_->mutex);
    std::erase(server_->transports, this);
    ending = std::move(alarm_);
  }
}

std::optional<reply> transport::submit(sender& from, entry& lock, request& r, time_point now) {
  r.window = terms_.runs_out ? std::min(r.ttl, std::max(8 * round_trip_, window_min)) : r.ttl;
  if (is_fault_free()) return server_->data.apply(lock, r, now, env_, server_->pushes);
  return submit_with_faults(from, &lock, r, now);
}

bool transport::submit(store_query& from, time_point now) {
  return submit_with_faults(from, nullptr, {.sent = now}, now).has_value();
}

std::optional<reply> transport::submit_with_faults(sender& from, entry* lock, const request& r,
                                                   time_point now) {
  const bool lost = faults_.loses_request() || server_->faults.loses_request();
  if (lost || cut(now)) return {};
  const time_point due = arrival(now);
  if (due <= now && up_.empty()) return arrive(from, lock, r, now);
  auto more = r.more ? std::make_unique<const request_details>(*r.more) : nullptr;
  up_.push_back({up_.empty() ? due : std::max(due, up_.back().due), &from, lock, r, nullptr});
  up_.back().what.more = more.get();
  up_.back().more = std::move(more);
  set_alarm();
  return {};
}

time_point transport::arrival(time_point now) const noexcept {
  return base::saturating_add(base::saturating_add(now, faults_.latency), server_->faults.latency);
}

std::optional<reply> transport::arrive(sender& from, entry* lock, const request& r,
                                       time_point now) {
  if (server_->faults.outage || faults_.outage) return {};
  reply answered;
  answered.sent = r.sent;
  if (lock) {
    answered = server_->data.apply(*lock, r, now, env_, server_->pushes);
  } else {
    static_cast<store_query&>(from).run_at(server_->data, now, env_, server_->pushes);
  }
  return answer(from, answered, now);
}

std::optional<reply> transport::answer(sender& to, const reply& r, time_point now) {
  if (faults_.loses_reply() || server_->faults.loses_reply()) return {};
  const time_point due = arrival(now);
  if (due <= now && down_.empty()) return r;
  down_.push_back({down_.empty() ? due : std::max(due, down_.back().due), &to, false, r, {}});
  set_alarm();
  return {};
}

void transport::deliver(subscriber& to, const push& p, time_point now, event_queue& events) {
  if (is_fault_free()) return hand_over(to, p, now, events);
  if (cut(now) || faults_.outage || server_->faults.outage)
    return;  // a push is no reply that could be lost by chance
  const time_point due = arrival(now);
  if (due <= now && down_.empty()) return hand_over(to, p, now, events);
  down_.push_back({down_.empty() ? due : std::max(due, down_.back().due), &to, true, {}, p});
  set_alarm();
}

void transport::hand_over(sender& to, const reply& r, time_point now, event_queue& events) {
  if (to.kind_ == sender::kind::claim)
    return memory_layout::on_reply(static_cast<claim&>(to), r, now, events);
  static_cast<reply_handler&>(to).on_reply(r, now, events);
}

void transport::hand_over(sender& to, const push& p, time_point now, event_queue& events) {
  memory_layout::on_push(static_cast<claim&>(to), p, now, events);
}

void transport::wake(sender& s, time_point now, event_queue& events) {
  if (s.kind_ == sender::kind::claim) return static_cast<claim&>(s).on_wake(now, events);
  static_cast<reply_handler&>(s).on_wake(now, events);
}

void transport::move_wake(sender& s, time_point t) {
  sleepers_.set(s, t);
  set_alarm();
}

void transport::forget(sender& s) noexcept {
  sleepers_.set(s, base::never);
  std::erase_if(up_, [&](const request_underway& m) { return m.from == &s; });
  std::erase_if(down_, [&](const reply_underway& m) { return m.to == &s; });
}

void transport::cut_off(bool yes) noexcept {
  severed_ = yes;
  if (yes) {
    up_.clear();
    down_.clear();
  }
  on_faults_changed();
}

void transport::set_faults(const fault_plan& w) noexcept {
  faults_ = w;
  on_faults_changed();
}

void transport::stop_after(time_point t) noexcept {
  stops_at_ = t;
  on_faults_changed();
}

void transport::on_faults_changed() noexcept {
  fault_free_ = faults_.is_fault_free() && !severed_ && stops_at_ == base::never;
  is_unavailable_.store(severed_ || faults_.outage || server_->faults.outage,
                        std::memory_order_relaxed);
}

bool transport::set_alarm() noexcept {
  time_point next = waits_until_;
  if (!up_.empty()) next = std::min(next, up_.front().due);
  if (!down_.empty()) next = std::min(next, down_.front().due);
  next = std::min(next, sleepers_.next());
  if (next == armed_) return true;
  if (!alarm_) alarm_ = env_.make_alarm(*this, "holdfast-memory");
  const bool rings = alarm_->set(next);
  armed_ = rings ? next : base::never;
  return rings;
}

void transport::on_alarm(time_point now) {
  event_queue events;
  {
    const std::lock_guard lock(server_->mutex);
    alarm_thread_ = std::this_thread::get_id();
    armed_ = base::never;
    deliver_due(now, events);
    if (now >= waits_until_) overdue_ = true;
    delivered_.notify_all();
    set_alarm();
  }
  events.dispatch();  // the last act: the client may be gone afterwards
}

// Leaves the rest of a long batch to the next alarm, so that events do not wait for all of it.
void transport::deliver_due(time_point now, event_queue& events) {
  for (std::size_t count = 0; count < batch_max; ++count) {
    if (!up_.empty() && up_.front().due <= now) {
      const request_underway m = std::move(up_.front());
      up_.pop_front();
      if (cut(now)) continue;
      if (const auto answered = arrive(*m.from, m.lock, m.what, now))
        hand_over(*m.from, *answered, now, events);
    } else if (!down_.empty() && down_.front().due <= now) {
      const reply_underway m = down_.front();
      down_.pop_front();
      if (cut(now)) continue;
      if (m.is_push) {
        hand_over(*m.to, m.hint, now, events);
      } else {
        const duration took = now - m.answer.sent;
        round_trip_ = round_trip_ == duration{} ? took : (7 * round_trip_ + took) / 8;
        hand_over(*m.to, m.answer, now, events);
      }
    } else if (base::heap_timer* const due = sleepers_.take_due(now)) {
      wake(static_cast<sender&>(*due), now, events);
    } else {
      return;
    }
    server_->deliver(now, events);
  }
}

bool transport::is_mute() const noexcept {
  return cut(env_.now()) || faults_.outage || server_->faults.outage;
}

bool transport::wait(std::unique_lock<std::mutex>& lock, time_point until) {
  if (env_.now() >= until || alarm_thread_ == std::this_thread::get_id()) return false;
  waits_until_ = until;
  overdue_ = false;
  if (set_alarm())
    delivered_.wait(lock);
  else
    overdue_ = true;
  waits_until_ = base::never;
  return !overdue_;
}

}  // namespace holdfast::memory
