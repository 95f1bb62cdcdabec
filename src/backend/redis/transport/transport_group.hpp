// What all connections of a client share: one mutex, the loop that its callers drive, the loop with
// a thread for renewals, one alarm, and the wait for the first connection and for the end.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "backend/redis/transport/connection.hpp"
#include "backend/redis/transport/deferred_log.hpp"
#include "base/network.hpp"
#include "base/parker.hpp"

namespace holdfast::redis {

// The connections to one server with what is kept there. All calls with the group's mutex held.
class group_member {
 public:
  // Writes what is collected; may release the mutex meanwhile. One thread at a time is called for
  // each of the two.
  virtual void flush(std::unique_lock<std::mutex>&) noexcept = 0;
  virtual void flush_renewals(std::unique_lock<std::mutex>&) noexcept = 0;
  virtual void on_alarm(time_point now, core::event_queue&) = 0;
  virtual bool has_unattended_replies() const noexcept = 0;  // nobody blocks for them
  virtual bool is_open() const noexcept = 0;
  // Why it will never be open, or, when its time is over, why it is not. Code {}: it may be yet.
  virtual core::failure why_not_open(bool is_overdue) const = 0;
  virtual bool is_settled() const noexcept = 0;  // nothing has to be withdrawn any more

 protected:
  ~group_member() = default;
};

struct blocking_wait {  // a thread that waits for the group itself
  core::parker parker;
  time_point until = core::never;
  bool for_the_end = false;  // until nothing is left unanswered; else until every member is open
  core::failure why;         // it ended in vain
};

class transport_group final : private core::loop_user, private core::alarm_target {
 public:
  explicit transport_group(core::environment&, const std::string& url);
  ~transport_group();

  std::mutex& mutex() noexcept { return mutex_; }
  core::environment& env() const noexcept { return env_; }
  core::caller_driver* driver() noexcept { return loop_->driver(); }
  void forked() noexcept;
  bool is_forked() const noexcept { return forked_.load(std::memory_order_relaxed); }
  void request_flush(bool at_once) noexcept { loop_->request_flush(at_once); }

  // With the mutex.
  void add(group_member& m) { members_.push_back(&m); }
  void remove(group_member& m) noexcept { std::erase(members_, &m); }
  // No event comes any more, and nothing is sent. Called without the mutex, before a member ends.
  void stop() noexcept;
  bool is_stopped() const noexcept { return is_stopped_; }
  void wake_by(time_point t) { (void)wakes_by(t); }  // on_alarm() is due then
  void request_renewal_flush() noexcept {
    if (renewal_loop_) renewal_loop_->request_flush(true);
  }
  deferred_log& log() noexcept { return log_; }
  // Callers who block for a reply, and claims that rely on a push: somebody drives for them.
  void count(int waiting, int listening) noexcept {
    waiting_.fetch_add(waiting, std::memory_order_relaxed);
    listening_.fetch_add(listening, std::memory_order_relaxed);
  }
  bool has_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }
  // Null, with the reason: this process has no descriptor or thread left.
  std::shared_ptr<attached_stream> connect(connection&, const core::address&,
                                           const core::tls_terms*, core::failure& why);

  // A wait begins with the mutex held; the caller then calls wait() without it.
  void begin(blocking_wait& w) noexcept { wait_ = &w; }
  void wait(blocking_wait&, std::stop_token = {});
  void abandon(const blocking_wait&) noexcept;

  void flush() noexcept override;

 private:
  struct connected_stream;
  struct renewal_user final : core::loop_user {
    transport_group* home = nullptr;
    void flush() noexcept override { home->flush_renewals(); }
    bool has_pending_replies() const noexcept override { return true; }
  };

  bool has_pending_replies() const noexcept override {
    return waiting_.load(std::memory_order_relaxed) > 0 ||
           listening_.load(std::memory_order_relaxed) > 0 ||
           unattended_.load(std::memory_order_relaxed);
  }
  void on_alarm(time_point now) override;
  template <class Event>
  void handle(const connected_stream&, Event);
  void flush_renewals() noexcept;
  bool wakes_by(time_point);  // false: no alarm can ring, and the next call tries again
  void answer_wait(time_point now);
  void end_wait(core::failure why);
  void attend_if_needed();

  core::environment& env_;
  std::mutex mutex_;
  std::vector<group_member*> members_;
  deferred_log log_;
  std::vector<std::shared_ptr<connected_stream>> streams_;
  blocking_wait* wait_ = nullptr;
  std::atomic<int> waiting_{0}, listening_{0};
  std::atomic<bool> unattended_{false};  // a reply is awaited that nobody blocks for
  std::atomic<bool> forked_{false};
  bool is_stopped_ = false;
  time_point alarm_at_ = core::never;
  renewal_user renewal_user_;
  std::unique_ptr<core::alarm> alarm_;
  std::unique_ptr<core::event_loop> loop_, renewal_loop_;  // gone first
};

}  // namespace holdfast::redis
