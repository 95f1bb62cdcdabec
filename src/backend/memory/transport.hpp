// The transport between one client and the store, and the faults of its messages.
//
// Without latency and faults a request is executed inside submit(), which returns the reply: the
// fast path. Otherwise messages are queued, in order, until an alarm of the environment delivers
// them. What a request causes for other claims waits in the server's outbox. One mutex guards a
// whole server; callers hold it. Claims collect their events in an event_queue, which dispatches
// them after unlocking.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "backend/memory/recipe.hpp"
#include "backend/memory/store.hpp"
#include "base/environment.hpp"
#include "base/timer_heap.hpp"

namespace holdfast::memory {

class transport;

// Sends requests and can be woken: a claim, or a reply_handler.
class sender : private base::heap_timer {
 protected:
  enum class kind : unsigned char { claim, handler };
  explicit sender(kind k) noexcept : kind_(k) {}
  ~sender() = default;

 private:
  friend class transport;
  const kind kind_;
};

class reply_handler : public sender {
 public:
  virtual void on_reply(const reply&, time_point now, event_queue&) = 0;
  virtual void on_wake(time_point now, event_queue&) = 0;

 protected:
  reply_handler() noexcept : sender(kind::handler) {}
  ~reply_handler() = default;
};

// The store's side of a claim. It also receives pushes.
class subscriber : public sender, public push_target {
 protected:
  subscriber() noexcept : sender(kind::claim) {}
  ~subscriber() = default;
};

// An admin query: it is run on the whole store.
class store_query : public reply_handler {
 public:
  virtual void run_at(store&, time_point now, base::environment&, push_list&) = 0;

 protected:
  ~store_query() = default;
};

// The faults of a transport: what happens to its messages.
struct fault_plan {
  base::duration latency{};                                 // each way
  std::uint32_t requests_to_lose = 0, replies_to_lose = 0;  // the next ones
  double lose_requests = 0, lose_replies = 0;               // probabilities
  std::uint64_t random_state = 0;                           // the seed, then the state
  bool outage = false;                                      // no request is answered

  bool is_fault_free() const noexcept {
    return latency == latency.zero() && !requests_to_lose && !replies_to_lose && !outage &&
           lose_requests <= 0 && lose_replies <= 0;
  }
  bool loses_request() noexcept { return takes(requests_to_lose, lose_requests); }
  bool loses_reply() noexcept { return takes(replies_to_lose, lose_replies); }

 private:
  bool takes(std::uint32_t& count, double chance) noexcept {
    if (count != 0) return count--, true;
    return chance > 0 && draw() < chance;
  }
  // SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
  double draw() noexcept {
    std::uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
  }
};

struct server {
  std::mutex mutex;  // guards everything here, and the claims and transports of all clients
  store data;
  fault_plan faults;  // for every client
  bool fault_free = true;
  std::vector<transport*> transports;
  push_list pushes;                                    // the outbox: pushes, and
  std::vector<std::pair<subscriber*, reply>> answers;  // replies to other claims of a group

  void faults_changed();
  // Hands the outbox to the claims, until it is empty.
  void deliver(time_point now, event_queue& events) {
    if (!pushes.empty() || !answers.empty()) deliver_outbox(now, events);
  }
  // Notifies all clients, or one, that the store may have lost their data or that they may have
  // missed messages.
  void announce_restart(event_queue&, const transport* only = nullptr);
  // Takes the lock from its holders. `spare` gives the time when there is no client.
  bool break_lock(std::string_view lock, base::environment& spare, event_queue&);

 private:
  void deliver_outbox(time_point now, event_queue&);
};

class transport final : private base::alarm_target {
 public:
  transport(std::shared_ptr<server>, base::environment&, const timing&);
  ~transport();  // nothing may send or wait for a wake-up any more

  server& at() const noexcept { return *server_; }
  base::environment& env() noexcept { return env_; }
  const timing& rules() const noexcept { return terms_; }

  // With the server's mutex held.
  // The reply, if it comes at once; otherwise it follows, unless it is lost.
  std::optional<reply> submit(sender&, entry&, request&, time_point now);
  // True: it was run and is answered, by an empty reply. Otherwise that follows, unless it is lost.
  bool submit(store_query&, time_point now);
  void wake_at(sender& s, time_point t) {  // `never` cancels; replaces the time set before
    if (s.at() != t) move_wake(s, t);
  }
  void forget(sender&) noexcept;  // no queued message reaches it any more
  void deliver(subscriber&, const push&, time_point now, event_queue&);  // from the store
  void cut_off(bool) noexcept;
  void set_faults(const fault_plan&) noexcept;
  void stop_after(time_point) noexcept;
  bool set_alarm() noexcept;  // false: the alarm cannot be set

  // Waits until a batch has been delivered or `until` has come. Returns false at that time, and at
  // once on the alarm's thread, which must deliver.
  bool wait(std::unique_lock<std::mutex>&, time_point until);

  bool is_mute() const noexcept;  // no request is answered until faults are changed
  // submit() answers at once.
  bool is_fault_free() const noexcept { return fault_free_ && server_->fault_free && quiet(); }
  // Any thread, with or without the mutex: no request of this client is answered.
  bool is_unavailable() const noexcept {
    return is_unavailable_.load(std::memory_order_relaxed) ||
           (stops_at_ != base::never && env_.now() >= stops_at_);
  }
  void on_faults_changed() noexcept;  // call it after a change
  bool is_forked() const noexcept { return forked_; }
  void forked() noexcept { forked_ = true; }

 private:
  struct request_underway {
    time_point due;
    sender* from;
    entry* lock;  // null: from a store_query
    request what;
    std::unique_ptr<const request_details>
        more;  // a copy: the sender may request other things by now
  };
  struct reply_underway {
    time_point due;
    sender* to;
    bool is_push;
    reply answer;
    push hint;
  };

  void on_alarm(time_point now) override;
  void deliver_due(time_point now, event_queue&);
  std::optional<reply> submit_with_faults(sender&, entry*, const request&, time_point now);
  std::optional<reply> arrive(sender&, entry*, const request&, time_point now);
  std::optional<reply> answer(sender&, const reply&, time_point now);
  static void hand_over(sender&, const reply&, time_point now, event_queue&);
  static void hand_over(sender&, const push&, time_point now, event_queue&);
  static void wake(sender&, time_point now, event_queue&);
  bool cut(time_point now) const noexcept { return severed_ || now >= stops_at_; }
  bool quiet() const noexcept { return up_.empty() && down_.empty(); }
  time_point arrival(time_point now) const noexcept;
  void move_wake(sender&, time_point);

  const std::shared_ptr<server> server_;
  base::environment& env_;
  const timing terms_;
  fault_plan faults_;  // for this client only
  bool fault_free_ = true;
  bool severed_ = false;
  bool forked_ = false;
  bool overdue_ = false;               // wait()'s time has come
  time_point stops_at_ = base::never;  // set before the transport is used
  std::atomic<bool> is_unavailable_{false};
  duration round_trip_{};  // smoothed
  std::deque<request_underway> up_;
  std::deque<reply_underway> down_;
  base::timer_heap sleepers_;  // senders
  time_point waits_until_ = base::never;
  std::condition_variable delivered_;
  std::thread::id alarm_thread_;
  time_point armed_ = base::never;
  std::unique_ptr<base::alarm> alarm_;  // made when first needed
};

}  // namespace holdfast::memory
