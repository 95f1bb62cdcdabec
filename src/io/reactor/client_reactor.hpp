// The base of every client that talks to servers: one mutex, the loop that its
// blocked callers drive, a loop with a thread of its own, one alarm, the lines for the log, and the
// wait of the thread that opens or closes it.
//
//   event              | with the mutex                           | then, without it
//   -------------------+------------------------------------------+-----------------------------
//   of a stream        | its user reads it                        | log, dispatch
//   the alarm          | each user's on_alarm()                   | flush, log, dispatch
//   flush of a loop    | each user's flush(), which releases the  |
//                      | mutex while it writes                    |
//   a library is due   | decide(), report(); not perform()        | log, dispatch
//
// After each of them the wait is asked whether it has ended, and the loop is driven in the
// background while a reply is awaited for which no caller blocks.
//
// It is below the backends, which alone use it, and above the event loop, of which it knows the
// interface only: loops come from the environment, so the simulator's network serves as well. That
// is why it is neither in src/io/network, where sockets are, nor in src/claim, which knows no I/O.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/descriptor_list.hpp"
#include "base/environment.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "base/parker.hpp"
#include "io/reactor/attached_library.hpp"
#include "io/reactor/attached_stream.hpp"

namespace holdfast::io {

// The connections to one server, or to one ensemble. All calls with the reactor's mutex held.
class reactor_user {
 public:
  // Writes what was collected for connections of that loop. May release the mutex meanwhile; then
  // another thread may be called as well.
  virtual void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept = 0;
  virtual void on_alarm(base::time_point now, base::event_queue&) = 0;  // see wake_by()
  // No caller blocks for a reply that is awaited.
  virtual bool has_unattended_replies() const noexcept = 0;

 protected:
  ~reactor_user() = default;
};

// A base of what a store keeps of a claim: what the reactor has counted it for.
struct counted_claim {
  bool is_waiting = false, is_listening = false;

 protected:
  ~counted_claim() = default;
};

// The wait of a thread that opens or closes its client.
class blocking_wait {
 public:
  explicit blocking_wait(base::time_point until) noexcept : until_(until) {}
  blocking_wait(const blocking_wait&) = delete;
  blocking_wait& operator=(const blocking_wait&) = delete;

  // It ended in vain; code {}: it did not.
  const base::failure& why() const noexcept { return why_; }

 protected:
  ~blocking_wait() = default;

 private:
  friend class client_reactor;
  // With the mutex, after each event and when the time is over: how it has ended; {}: it goes on.
  virtual std::optional<base::failure> outcome(bool is_overdue) = 0;

  base::parker parker_;
  const base::time_point until_;
  base::failure why_;
  bool is_counted_ = false;  // by client_reactor::waiting()
};

class client_reactor final : private base::alarm_target {
 public:
  struct thread_names {  // the kernel keeps 15 characters of each
    const char *alarm, *loop, *own_loop;
  };
  // Throws lock_error (unsupported): the environment has no network. `url` without secrets.
  client_reactor(base::environment&, const thread_names&, const std::string& url);
  ~client_reactor();

  std::mutex& mutex() noexcept { return mutex_; }
  base::environment& env() const noexcept { return env_; }
  base::caller_driver* driver() noexcept { return loop_->driver(); }  // null: callers do not block
  void forked() noexcept;                                             // in a fork's child
  bool is_forked() const noexcept { return forked_.load(std::memory_order_relaxed); }
  // From any thread: what was collected for a loop is written.
  void request_flush(bool at_once) noexcept { loop_->request_flush(at_once); }
  void request_flush_of_own_loop(bool at_once) noexcept {
    if (base::event_loop* const own = own_loop_seen_) own->request_flush(at_once);
  }
  void flush() noexcept { callers_writer_.flush(); }  // on this thread, for the loop of callers

  // With the mutex, also from inside an event: users are called by number.
  void add(reactor_user& u) { users_.push_back(&u); }
  void remove(reactor_user& u) noexcept { std::erase(users_, &u); }
  base::deferred_log& log() noexcept { return log_; }
  // on_alarm() is due then. False: no thread can be started for the alarm; the next call tries
  // again.
  bool wake_by(base::time_point);
  // Callers who block for a reply, and claims that rely on a push: callers drive the loop for them.
  void count(int waiting, int listening) noexcept {
    waiting_.fetch_add(waiting, std::memory_order_relaxed);
    listening_.fetch_add(listening, std::memory_order_relaxed);
  }
  // The same for one claim, from what was counted for it before.
  void count(counted_claim& c, bool waits, bool listens) noexcept {
    if (waits == c.is_waiting && listens == c.is_listening) return;
    count(waits - c.is_waiting, listens - c.is_listening);
    c.is_waiting = waits;
    c.is_listening = listens;
  }
  int waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  // Over the loop of callers, or over that with a thread of its own, which is made with its first
  // connection. Null, with the reason: this process has no descriptor or thread left, or stop() was
  // called.
  std::shared_ptr<attached_stream> connect(stream_user&, const base::address&,
                                           const base::tls_terms*, base::driven_by,
                                           base::failure& why);
  bool is_stopped() const noexcept { return is_stopped_; }
  // Makes the loop that an attached library belongs to, where it is not there yet. False, with the
  // reason, as connect().
  bool start(base::driven_by, base::failure& why);

  // Without the mutex: event(now, events) with it, unless stopped; then logs and dispatches.
  // `flushes`: has written at once what the event has collected.
  template <class Event>
  void run(Event event, bool flushes = false);
  // No event comes any more, and nothing is sent. Called before a user, or what it reads, ends.
  void stop() noexcept;

  // One thread opens or closes a client. A wait begins with the mutex held; the thread then calls
  // wait() without it, or abandon() if it is not to block. waiting() counts it from the beginning:
  // an event before wait() may end it.
  void begin(blocking_wait& w) noexcept {
    wait_ = &w;
    w.is_counted_ = true;
    count(1, 0);
  }
  void wait(blocking_wait&, std::stop_token = {});
  void abandon(blocking_wait&) noexcept;

 private:
  friend class attached_library;
  struct connected_stream;
  struct writer final : base::loop_user {  // of one loop
    writer(client_reactor& r, base::driven_by b) noexcept : home(r), by(b) {}
    void flush() noexcept override;
    bool has_pending_replies() const noexcept override {
      return by == base::driven_by::thread || home.waiting_.load(std::memory_order_relaxed) > 0 ||
             home.listening_.load(std::memory_order_relaxed) > 0 ||
             home.unattended_.load(std::memory_order_relaxed);
    }
    client_reactor& home;
    const base::driven_by by;
  };

  void on_alarm(base::time_point now) override;
  base::event_loop& loop_of(base::driven_by);
  void answer_wait(base::time_point now);
  void end_count(blocking_wait&) noexcept;
  void end_wait(base::failure why);
  void attend_if_needed();
  attached_library* take_due(base::driven_by) noexcept;
  void perform_due(base::driven_by) noexcept;
  void perform(attached_library&, base::event_queue&);

  base::environment& env_;
  const thread_names names_;
  std::mutex mutex_;
  std::vector<reactor_user*> users_;
  base::deferred_log log_;
  std::vector<std::shared_ptr<connected_stream>> streams_;  // until they have closed
  std::vector<attached_library*> due_;
  blocking_wait* wait_ = nullptr;
  std::atomic<int> waiting_{0}, listening_{0};
  std::atomic<bool> unattended_{false};  // a reply is awaited for which no caller blocks
  std::atomic<bool> forked_{false};
  bool is_stopped_ = false;
  base::time_point alarm_at_ = base::never;
  base::descriptor_list descriptors_;  // of attached libraries, which close them
  writer callers_writer_{*this, base::driven_by::callers};
  writer own_writer_{*this, base::driven_by::thread};
  std::unique_ptr<base::alarm> alarm_;
  std::unique_ptr<base::event_loop> loop_, own_loop_;  // ended first
  std::atomic<base::event_loop*> own_loop_seen_{
      nullptr};  // own_loop_, for threads without the mutex
};

template <class Event>
void client_reactor::run(Event event, bool flushes) {
  base::event_queue events;
  base::deferred_log::lines lines;
  {
    const base::time_point now = env_.now();
    const std::lock_guard guard(mutex_);
    if (is_stopped_) return;
    event(now, events);
    answer_wait(now);
    attend_if_needed();
    if (!log_.is_empty()) lines = log_.take();
  }
  if (flushes) loop_->request_flush(true);
  base::deferred_log::write(lines);
  events.dispatch();  // the last thing: the client may be gone then
}

}  // namespace holdfast::io
