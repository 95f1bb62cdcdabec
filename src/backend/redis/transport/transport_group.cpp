#include "backend/redis/transport/transport_group.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/fail.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;

// One connection, from connect() until its stream has told that it is closed.
struct transport_group::connected_stream final : attached_stream {
  connected_stream(transport_group& g, connection& x) noexcept : home(g), of(x) {}
  void on_open() override;
  void on_bytes(std::span<const std::byte>) override;
  void on_closed(failure) override;

  transport_group& home;
  connection& of;
};

transport_group::transport_group(core::environment& e, const std::string& url)
    : env_(e), alarm_(e.make_alarm(*this, "holdfast-redis")) {
  renewal_user_.home = this;
  loop_ = e.make_loop(*this, core::driven_by::callers, "holdfast-io");
  if (!loop_) core::fail(errc::unsupported, "open", "this environment has no network", {}, url);
}

transport_group::~transport_group() { stop(); }

void transport_group::stop() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_stopped_ = true;  // what comes from here on finds no loop
  }
  alarm_.reset();  // the last that may use the loops
  renewal_loop_.reset();
  loop_.reset();
  const std::lock_guard guard(mutex_);
  streams_.clear();
}

void transport_group::forked() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  loop_->forked();
  if (renewal_loop_) renewal_loop_->forked();
}

std::shared_ptr<attached_stream> transport_group::connect(connection& x, const core::address& where,
                                                          const core::tls_terms* tls,
                                                          failure& why) {
  if (x.what() == lane::renewals && !renewal_loop_) {
    try {
      renewal_loop_ = env_.make_loop(renewal_user_, core::driven_by::thread, "holdfast-hold");
    } catch (const std::system_error& failed) {
      why = core::shortage_of(failed);
      return nullptr;
    }
  }
  auto made = std::make_shared<connected_stream>(*this, x);
  streams_.push_back(made);
  core::event_loop& over = x.what() == lane::renewals ? *renewal_loop_ : *loop_;
  made->stream = over.connect(where, tls, *made);
  over.attend();
  return made;
}

void transport_group::connected_stream::on_open() {
  home.handle(*this, [this](time_point, event_queue&) { of.opened(); });
}

void transport_group::connected_stream::on_bytes(std::span<const std::byte> bytes) {
  home.handle(*this, [&](time_point now, event_queue& events) { of.received(bytes, now, events); });
}

void transport_group::connected_stream::on_closed(failure why) {
  transport_group& g = home;
  std::shared_ptr<connected_stream> last;  // ends after the mutex is released
  event_queue events;
  deferred_log::lines lines;
  {
    const time_point now = g.env_.now();
    const std::lock_guard guard(g.mutex_);
    const auto found = std::ranges::find(g.streams_, this, &std::shared_ptr<connected_stream>::get);
    if (found == g.streams_.end()) return;
    last = std::move(*found);
    g.streams_.erase(found);
    if (g.is_stopped_) return;
    if (of.stream().get() == this) of.closed(std::move(why), now, events);
    g.answer_wait(now);
    g.attend_if_needed();
    if (!g.log_.is_empty()) lines = g.log_.take();
  }
  deferred_log::write(lines);
  events.dispatch();
}

template <class Event>
void transport_group::handle(const connected_stream& w, Event event) {
  event_queue events;
  deferred_log::lines lines;
  const time_point now = env_.now();
  {
    const std::lock_guard guard(mutex_);
    if (is_stopped_) return;
    if (w.of.stream().get() == &w) event(now, events);
    answer_wait(now);
    attend_if_needed();
    if (!log_.is_empty()) lines = log_.take();
  }
  deferred_log::write(lines);
  events.dispatch();
}

void transport_group::on_alarm(time_point now) {
  if (is_forked()) return;
  event_queue events;
  deferred_log::lines lines;
  {
    const std::lock_guard guard(mutex_);
    if (is_stopped_) return;
    alarm_at_ = core::never;
    for (group_member* m : members_) m->on_alarm(now, events);
    if (wait_) wake_by(wait_->until);
    answer_wait(now);
    attend_if_needed();
    if (!log_.is_empty()) lines = log_.take();
  }
  deferred_log::write(lines);
  loop_->request_flush(true);
  events.dispatch();  // the last thing: the client may be gone then
}

bool transport_group::wakes_by(time_point t) {
  if (t >= alarm_at_ || is_stopped_) return true;
  if (!alarm_->set(t)) return false;
  alarm_at_ = t;
  return true;
}

void transport_group::flush() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  for (group_member* m : members_) m->flush(lock);
}

void transport_group::flush_renewals() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  for (group_member* m : members_) m->flush_renewals(lock);
}

// A greeting and a withdrawal have nobody who blocks for their reply.
void transport_group::attend_if_needed() {
  if (is_stopped_) return;
  const bool needed = std::ranges::any_of(members_, [](const group_member* m) {
    return m->has_unattended_replies();
  });
  if (needed == unattended_.load(std::memory_order_relaxed)) return;
  unattended_.store(needed, std::memory_order_relaxed);
  if (needed) loop_->attend();
}

void transport_group::wait(blocking_wait& w, std::stop_token stop) {
  const std::stop_callback on_stop(std::move(stop), [&] {
    const std::lock_guard guard(mutex_);
    if (wait_ == &w) end_wait({errc::canceled, "it was stopped"});
  });
  {
    const std::lock_guard guard(mutex_);
    count(1, 0);
    if (!wakes_by(w.until) && wait_ == &w)
      end_wait({errc::unavailable, "no thread can be started to end the wait in time: raise the "
                                   "limit of processes (ulimit -u)"});
  }
  loop_->driver()->run_until_signalled(w.parker);
  const std::lock_guard guard(mutex_);
  count(-1, 0);
}

void transport_group::abandon(const blocking_wait& w) noexcept {
  const std::lock_guard guard(mutex_);
  if (wait_ == &w) wait_ = nullptr;
}

void transport_group::end_wait(failure why) {
  blocking_wait& w = *std::exchange(wait_, nullptr);
  w.why = std::move(why);
  w.parker.signal();
}

void transport_group::answer_wait(time_point now) {
  if (!wait_) return;
  const bool is_overdue = now >= wait_->until;
  if (wait_->for_the_end) {
    const bool is_last = waiting_ == 1;  // the thread that waits for this is counted too
    if (is_overdue || (is_last && std::ranges::all_of(members_, &group_member::is_settled)))
      end_wait({});
    return;
  }
  if (std::ranges::all_of(members_, &group_member::is_open)) return end_wait({});
  for (const group_member* m : members_) {
    failure why = m->why_not_open(is_overdue);
    if (why.code) return end_wait(std::move(why));
  }
}

}  // namespace holdfast::redis
