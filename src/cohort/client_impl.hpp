// The state that copies of a client share: backend, local locks, timers, notices.
#pragma once
#include <holdfast/client.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/fork.hpp"
#include "base/timer_queue.hpp"
#include "cohort/cohort.hpp"
#include "cohort/local_lock.hpp"
#include "seam/registry.hpp"

namespace holdfast::inline v0::detail {

class client_impl final : public std::enable_shared_from_this<client_impl> {
 public:
  // Throws lock_error. Destroying the last reference closes the client.
  static std::shared_ptr<client_impl> open(const url&, const open_options&, base::environment&,
                                           std::stop_token,
                                           std::span<const seam::scheme> = seam::schemes());

  // As client::schema().
  static std::vector<std::string> schema(const url&, base::environment&);

  // The local lock of that name, made when there is none, with one more user. `permits` 0: a lock;
  // else a semaphore of that size. The lock store compares the kinds that it keeps. Kinds of two
  // lock stores do not exclude each other: a second one is refused while the first is in use.
  // Throws lock_error: bad_name, unsupported, mismatch, forked.
  local_lock& local_lock_for(std::string_view name, lock_kind, std::uint32_t permits = 0);
  void retire(local_lock&) noexcept;  // removes and deletes it if it is still unused

  // A local lock with users keeps its client alive.
  void keep();
  void unkeep() noexcept;

  bool close() noexcept;
  // The end of a claim; logged unless a caller awaits it.
  void report(const std::string& lock, const base::failure&, bool is_awaited) noexcept;
  void notify(std::vector<std::stop_source>) noexcept;

  base::timer_queue& timers() noexcept { return timers_; }
  base::environment& env() noexcept { return env_; }
  seam::connection& connection() noexcept { return *backend_.connection; }
  const seam::store_family& stores() const noexcept { return backend_.stores; }
  // The rules for locks of that kind. Options and counters are the same for all kinds.
  const cohort::lock_rules& rules(lock_kind k = lock_kind::mutex) const noexcept {
    return rules_[static_cast<std::size_t>(k)];
  }
  // The URL without its options: identifies the store.
  std::string_view place() const noexcept {
    return std::string_view(text_).substr(0, text_.find('?'));
  }
  const std::string& text() const noexcept { return text_; }
  bool is_of_this_process() const noexcept { return generation_ == base::fork_generation(); }
  bool is_closed() const noexcept { return closed_; }

 private:
  struct ending;  // the deleter of the shared pointer
  void close_all() noexcept;
  bool await_verbs(std::span<local_lock* const>, base::time_point until) noexcept;
  void start_recording() noexcept;
  local_lock* find_local_lock(std::string_view name, const cohort::lock_rules&,
                              std::uint32_t permits);

  struct by_name {
    using is_transparent = void;
    static std::string_view of(const local_lock* s) noexcept { return s->name(); }
    static std::string_view of(std::string_view name) noexcept { return name; }
    template <class Key>
    std::size_t operator()(const Key& k) const noexcept {
      return std::hash<std::string_view>{}(of(k));
    }
    template <class Left, class Right>
    bool operator()(const Left& l, const Right& r) const noexcept {
      return of(l) == of(r);
    }
  };

  class flushing_timers final : public base::timer_queue {
   public:
    flushing_timers(client_impl& c, base::environment& e)
        : timer_queue(e, "holdfast-renew"), client_(c) {}

   private:
    void after_batch() override { client_.connection().flush(); }
    client_impl& client_;
  };

  struct fork_handler final : base::fork_listener {
    explicit fork_handler(seam::connection& c) : connection(c) { listen(); }
    ~fork_handler() { stop_listening(); }
    void forked() noexcept override { connection.forked(); }
    seam::connection& connection;
  };

  client_impl(const url&, const open_options&, base::environment&, std::stop_token,
              std::span<const seam::scheme>);
  ~client_impl();

  base::environment& env_;
  const std::string text_;
  const unsigned generation_ = base::fork_generation();
  seam::client_options options_;
  std::unique_ptr<cohort::counters> counts_;    // null: metrics are off
  std::unique_ptr<base::recording> recording_;  // null: events are not recorded, or not yet
  seam::backend backend_;
  std::array<cohort::lock_rules, 3> rules_;  // by kind
  fork_handler on_fork_{connection()};       // while the connection exists
  flushing_timers timers_;
  std::mutex notices_mutex_;
  std::unique_ptr<base::worker> notices_;      // made with the first notice
  std::vector<std::stop_source> undelivered_;  // not delivered because no thread could be started
  std::mutex local_locks_mutex_;               // locked before a local lock's mutex
  std::unordered_multiset<local_lock*, by_name, by_name> local_locks_;  // owned
  bool has_started_recording_ = false;
  std::mutex keep_mutex_;
  std::size_t keepers_ = 0;            // local locks with users
  std::shared_ptr<client_impl> self_;  // set while there are keepers
  std::atomic<bool> closed_{false};
  std::atomic<std::thread::id> closer_{};  // the thread that is closing
  std::mutex closing_;                     // locked by the closing thread
  std::atomic<bool> left_behind_{false};   // a release's outcome is unknown
};

}  // namespace holdfast::inline v0::detail
