// Leader election: of several candidates one leads, and each program can observe which.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/detail/verbs.hpp>
#include <holdfast/holder.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// One candidate of an election. The leader is the holder of the mutex `name`, on every backend, and
// its value is the note of its lease, so a program that acquires that mutex with a note is a
// candidate too. The API follows etcd's concurrency.Election and Curator's LeaderLatch.
//
//   hf::election office(client, "scheduler", {.ttl = 10s});
//   while (!stop.stop_requested()) {
//     if (!office.try_campaign_for(1h, "10.0.0.7:8080", stop)) continue;
//     while (!office.term().in_doubt() && has_work()) run_one_job(office.term().token());
//     std::error_code deposed;  // errc::lost: another candidate may have led already
//     office.resign(deposed);
//   }
//
//   state     | is_leader() | term().in_doubt() | left by
//   ----------+-------------+-------------------+--------------------------------------------------
//   candidate | false       | true              | campaign() -> leader
//   leader    | true        | false             | no renewal confirmed in time -> in doubt
//             |             |                   | resign(), ~election -> candidate
//   in doubt  | true        | true              | a renewal confirmed -> leader
//             |             |                   | the deadline, or the store reports the loss
//             |             |                   | -> deposed; resign(), ~election -> candidate
//   deposed   | false       | true              | resign(), campaign(), ~election -> candidate
//
// Guarantee: is_leader() is false before another candidate leads, as lease::held() is, as far as
// the store keeps its promises (docs/safety.md). Limits: a leader can be paused between that check
// and a write, and its write then arrives when another candidate leads. A leader whose lock was
// taken away (client::break_lock()) notices it with its next renewal at the latest, after a third
// of the ttl. Pass term().token() to the resource and let it refuse smaller ones.
//
// After a crash of the leader there is none until its lease has expired: at most its ttl, or the
// timeout of its session. With file: the next candidate leads at once.
//
// A leader in doubt starts no new work. It finishes or undoes what is in progress before
// term().expires(), and stops at once when is_leader() is false (docs/guides/leader-election.md).
//
// Candidates of one client share the client's grant: observers see the value of the candidate that
// the store granted it to. Use one client for each candidate, or give these the same value.
//
// Thread safety: is_leader() and both forms of observe() may be called by any thread at any time.
// The others are for one thread at a time. Neither copyable nor movable. The destructor resigns
// without waiting for the store and does not block. An election keeps its client open.
class election {
 public:
  // name      of the lock; every candidate gives the same
  // defaults  the options of each term: ttl, renew and max_hold; the note is the value of
  //           campaigns that give an empty one. The ttl (default: the client's, 30 s) is how long
  //           a dead leader keeps the others waiting
  // Errors are those of the constructor of mutex. Does not block.
  election(const client& c, std::string_view name, const acquire_options& defaults = {})
      : store_(c), office_(c, name, defaults) {}
  election(const election&) = delete;
  election& operator=(const election&) = delete;

  // Campaigns until this candidate leads, and returns its lease. While it leads already, each form
  // returns at once, and the value stays as it is. A term that was lost is left first.
  //
  //   campaign           | until this candidate leads
  //   try_campaign       | not at all: it makes one attempt
  //   try_campaign_for   | at most that duration; 0 or less: one attempt
  //   try_campaign_until | at most until that time of any clock
  //
  // value  what observers see as holder::note, for example the leader's address; at most 256 bytes
  //        of UTF-8 without control characters. "": the note of the defaults. Copied. Some
  //        layouts cannot store it (docs/guides/leader-election.md)
  // A std::stop_token and a std::error_code& may follow, in this order.
  // Returns term(): valid until this object changes. It is empty when a try_ form ends without
  // leading, and with an error.
  // Errors, stop and blocking are those of mutex: acquire(), try_acquire(), try_acquire_for() and
  // try_acquire_until() (lockable.hpp). campaign() throws errc::canceled when it is stopped.
  template <class... E>
  requires detail::call_ending<E...>
  const lease& campaign(std::string_view value, E&&... ending) {
    return run(value, detail::wait_bound::forever(), std::forward<E>(ending)...);
  }
  template <class... E>
  requires detail::call_ending<E...>
  [[nodiscard]] const lease& try_campaign(std::string_view value, E&&... ending) {
    return run(value, detail::wait_bound::one_attempt(), std::forward<E>(ending)...);
  }
  template <class R, class P, class... E>
  requires detail::call_ending<E...>
  [[nodiscard]] const lease& try_campaign_for(std::chrono::duration<R, P> d, std::string_view value,
                                              E&&... ending) {
    return run(value, detail::within(d), std::forward<E>(ending)...);
  }
  template <class C, class D, class... E>
  requires detail::call_ending<E...>
  [[nodiscard]] const lease& try_campaign_until(std::chrono::time_point<C, D> t,
                                                std::string_view value, E&&... ending) {
    return run(value, detail::within(detail::left_until(t)), std::forward<E>(ending)...);
  }

  // Whether this candidate leads now. Reads the clock as lease::held() does, so the answer is exact
  // at each call, even after a SIGSTOP or a suspend. Does not block.
  bool is_leader() const noexcept;

  // The lease of the current term: its token, its doubt and loss signals. It stays when the term is
  // lost, until resign() or the next campaign; empty for a candidate. Only for the thread that
  // campaigns: other threads call is_leader(), or get the tokens before they start.
  const lease& term() const noexcept { return term_; }

  // Ends the term, so that the next candidate leads, and reports whether this candidate led until
  // now. It is a candidate afterwards in every case.
  //
  // Errors and blocking are those of lease::release(): errc::lost means that another candidate may
  // have led before this call, errc::not_held that this one did not lead.
  void resign();
  void resign(std::error_code&) noexcept;

  // Returns the leader as the store reports it now; nullopt when there is none. Its value is
  // holder::note, empty where the layout cannot store it. holder::token is 0 where the store does
  // not keep the token. With redis: (layout string) the value may follow the grant by a moment.
  // With file: the former leader is returned for a moment after the next one's grant.
  //
  // For finding the leader, not for proving it: its term may have ended by the time of the return.
  // Errors and blocking are those of client::holders().
  std::optional<holder> observe() const;
  std::optional<holder> observe(std::error_code&) const;

  // Calls `on_change` with the current leader, and again after each change: of the leader, of the
  // term, or of the value. Returns once stop is requested.
  //
  // on_change  gets what observe() returns. Runs on the calling thread; what it throws ends the
  //            call
  // interval   how often the store is polled; 10 ms to 1 hour, default 1 s. No backend reports a
  //            change of holders to other clients, so each poll costs what observe() costs, and a
  //            term that is shorter than the interval can be missed. With mysql: (strategy
  //            for-update) each leader looks the same, and only the time without one is seen
  // A term that has ended is reported again only if the next poll shows it too.
  // While the store is out of reach (errc::unavailable, no_quorum) it is polled on, and on_change
  // is not called: the last report may be out of date.
  // errc::bad_option  interval is out of range, or on_change is empty
  // The others are those of client::holders().
  // Blocks until stop is requested; then at most the client's op-timeout (default 5 s) and the time
  // of on_change.
  using observer = std::function<void(const std::optional<holder>&)>;
  void observe(const observer& on_change, std::stop_token stop,
               std::chrono::milliseconds interval = std::chrono::seconds(1)) const;
  void observe(const observer& on_change, std::stop_token stop, std::chrono::milliseconds interval,
               std::error_code&) const;

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_campaign(std::string_view value, Token&&... token) {
    return start_campaign(*this, value, detail::wait_bound::forever(),
                          std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_campaign(std::string_view value, Token&&... token) {
    return start_campaign(*this, value, detail::wait_bound::one_attempt(),
                          std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_campaign_for(std::chrono::duration<R, P> d, std::string_view value,
                              Token&&... token) {
    return start_campaign(*this, value, detail::within(d), std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_campaign_until(std::chrono::time_point<C, D> t, std::string_view value,
                                Token&&... token) {
    return start_campaign(*this, value, detail::within(detail::left_until(t)),
                          std::forward<Token>(token)...);
  }
  template <class... Token>
  auto async_resign(Token&&... token);

  // The name of the election, which is that of the lock.
  std::string_view name() const noexcept { return office_.name(); }

 private:
  friend class detail::election_access;
  template <class... E>
  const lease& run(std::string_view value, detail::wait_bound b, E&&... ending) {
    return run(value, detail::acquire_call(b, nullptr).with(std::forward<E>(ending)...));
  }
  const lease& run(std::string_view value, detail::acquire_call);
  lease take_term() noexcept;
  const lease& begin_term(lease);

  const client store_;
  const holdfast::mutex office_;
  mutable std::mutex mutex_;  // guards term_ against is_leader() of other threads
  lease term_;
};

}  // namespace v0
}  // namespace holdfast
