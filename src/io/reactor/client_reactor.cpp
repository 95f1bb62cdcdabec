#include "io/reactor/client_reactor.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/fail.hpp"

namespace holdfast::io {

using base::driven_by;
using base::event_queue;
using base::failure;
using base::time_point;

namespace {

// Joins the thread of a loop, which may look for its loop until then: the pointer stays meanwhile.
void end_loop(std::unique_ptr<base::event_loop>& l) noexcept {
  delete l.get();
  (void)l.release();
}

}  // namespace

struct client_reactor::connected_stream final : attached_stream, base::stream_events {
  connected_stream(client_reactor& r, stream_user& u) noexcept
      : attached_stream(u, nullptr), home(r) {}
  void begin(std::unique_ptr<base::stream> over) noexcept { stream_ = std::move(over); }
  void on_open() override {
    home.run([this](time_point now, event_queue& events) {
      if (user_) user_->on_open(now, events);
    });
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    home.run([&](time_point now, event_queue& events) {
      if (user_) user_->on_bytes(bytes, now, events);
    });
  }
  void on_closed(failure why) override {
    std::shared_ptr<connected_stream> last;  // ends after the mutex is released
    home.run([&](time_point now, event_queue& events) {
      const auto found =
          std::ranges::find(home.streams_, this, &std::shared_ptr<connected_stream>::get);
      last = std::move(*found);
      home.streams_.erase(found);
      if (stream_user* const u = std::exchange(user_, nullptr))
        u->on_closed(std::move(why), now, events);
    });
  }

  client_reactor& home;
};

client_reactor::client_reactor(base::environment& env, const thread_names& names,
                               const std::string& url)
    : env_(env), names_(names), alarm_(env.make_alarm(*this, names.alarm)) {
  loop_ = env.make_loop(callers_writer_, driven_by::callers, names.loop);
  if (!loop_) base::fail(errc::unsupported, "open", "this environment has no network", {}, url);
}

client_reactor::~client_reactor() { stop(); }

void client_reactor::stop() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_stopped_ = true;  // what comes from here on finds no loop
  }
  alarm_.reset();  // the last that may use the loops
  own_loop_seen_ = nullptr;
  end_loop(own_loop_);
  end_loop(loop_);
  const std::lock_guard guard(mutex_);
  streams_.clear();
}

void client_reactor::forked() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  loop_->forked();
  if (own_loop_) own_loop_->forked();
  descriptors_.close_all();
}

base::event_loop& client_reactor::loop_of(driven_by by) {
  if (by == driven_by::callers) return *loop_;
  if (!own_loop_) own_loop_ = env_.make_loop(own_writer_, by, names_.own_loop);
  own_loop_seen_ = own_loop_.get();
  return *own_loop_;
}

std::shared_ptr<attached_stream> client_reactor::connect(stream_user& u, const base::address& where,
                                                         const base::tls_terms* tls, driven_by by,
                                                         failure& why) {
  if (is_stopped_) {
    why = {errc::closed, "the client was closed"};
    return nullptr;
  }
  auto made = std::make_shared<connected_stream>(*this, u);
  try {
    base::event_loop& over = loop_of(by);
    made->begin(over.connect(where, tls, *made));
    over.attend();
  } catch (const std::system_error& failed) {
    why = base::shortage_of(failed);
    return nullptr;
  }
  streams_.push_back(made);
  return made;
}

bool client_reactor::start(driven_by by, failure& why) {
  if (is_stopped_) {
    why = {errc::closed, "the client was closed"};
    return false;
  }
  try {
    loop_of(by);
  } catch (const std::system_error& failed) {
    why = base::shortage_of(failed);
    return false;
  }
  return true;
}

void client_reactor::on_alarm(time_point) {
  if (is_forked()) return;
  const auto ring = [this](time_point now, event_queue& events) {
    alarm_at_ = base::never;
    for (std::size_t i = 0; i < users_.size(); ++i) users_[i]->on_alarm(now, events);
    if (wait_) wake_by(wait_->until_);
  };
  run(ring, true);
}

bool client_reactor::wake_by(time_point t) {
  if (t >= alarm_at_ || is_stopped_) return true;
  if (!alarm_->set(t)) return false;
  alarm_at_ = t;
  return true;
}

void client_reactor::writer::flush() noexcept {
  if (home.is_forked()) return;
  {
    std::unique_lock lock(home.mutex_);
    for (std::size_t i = 0; i < home.users_.size(); ++i) home.users_[i]->flush(lock, by);
    if (home.due_.empty()) return;
  }
  home.perform_due(by);
}

void client_reactor::attend_if_needed() {
  const bool needed = std::ranges::any_of(users_, [](const reactor_user* u) {
    return u->has_unattended_replies();
  });
  if (needed == unattended_.load(std::memory_order_relaxed)) return;
  unattended_.store(needed, std::memory_order_relaxed);
  if (needed) loop_->attend();
}

void client_reactor::wait(blocking_wait& w, std::stop_token stop) {
  const std::stop_callback on_stop(std::move(stop), [&] {
    const std::lock_guard guard(mutex_);
    if (wait_ == &w) end_wait({errc::canceled, "it was stopped"});
  });
  {
    const std::lock_guard guard(mutex_);
    if (wait_ == &w && !wake_by(w.until_))
      end_wait({errc::unavailable, "no thread can be started to end the wait in time: raise the "
                                   "limit of processes (ulimit -u)"});
  }
  loop_->driver()->run_until_signalled(w.parker_);
  const std::lock_guard guard(mutex_);
  end_count(w);
}

void client_reactor::end_count(blocking_wait& w) noexcept {
  if (std::exchange(w.is_counted_, false)) count(-1, 0);
}

void client_reactor::abandon(blocking_wait& w) noexcept {
  const std::lock_guard guard(mutex_);
  if (wait_ == &w) wait_ = nullptr;
  end_count(w);
}

void client_reactor::end_wait(failure why) {
  blocking_wait& w = *std::exchange(wait_, nullptr);
  w.why_ = std::move(why);
  w.parker_.signal();
}

void client_reactor::answer_wait(time_point now) {
  if (!wait_) return;
  std::optional<failure> ended = wait_->outcome(now >= wait_->until_);
  if (ended) end_wait(std::move(*ended));
}

// Null: none, or a thread performs for each of them already, and decides again after that.
attached_library* client_reactor::take_due(driven_by by) noexcept {
  const auto found = std::ranges::find_if(due_, [&](const attached_library* l) {
    return l->loop_ == by && !l->is_performing_;
  });
  if (found == due_.end()) return nullptr;
  attached_library* const out = *found;
  due_.erase(found);
  out->is_due_ = false;
  return out;
}

void client_reactor::perform_due(driven_by by) noexcept {
  run([&](time_point, event_queue& events) {
    while (attached_library* const l = take_due(by)) perform(*l, events);
  });
}

// Releases the mutex while the library is called.
void client_reactor::perform(attached_library& l, event_queue& events) {
  const base::readiness ready = std::exchange(l.ready_, base::readiness::none);
  if (!l.user_.decide(ready, env_.now())) return;
  l.is_performing_ = true;
  mutex_.unlock();
  l.call();
  const time_point now = env_.now();
  mutex_.lock();
  l.is_performing_ = false;
  if (!is_stopped_) l.user_.report(now, events);
}

}  // namespace holdfast::io
