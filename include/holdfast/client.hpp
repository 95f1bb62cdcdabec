// The door to one backend.
#pragma once
#include <holdfast/holder.hpp>
#include <holdfast/lock_names.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/url.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// What a backend can do, for code that wants to adapt.
struct features {
  bool ttl = false;        // leases run out: ttl, renewal and expires() mean something
  bool fifo = false;       // those that wait are served in the order of their arrival
  bool durable = false;    // a lock and its token survive the end of the process that made them
  bool processes = false;  // excludes other processes
  bool breakable = false;  // break_lock() can take a lock away
  bool shared = false;     // shared_mutex
  bool permits = false;    // semaphore
};

// A counted reference: copies are the same client. All members may be called from any thread.
// Leases, mutexes and copies keep the client alive; when the last is gone it is closed.
//
// A default constructed client is empty, as is what an error_code form of open() returns with an
// error: whatever needs a backend fails with errc::closed.
//
// Every member that takes a std::error_code& has a throwing form too; ec is set exactly when that
// one throws lock_error, else cleared.
class client {
 public:
  client() noexcept = default;

  // Opens the backend of `url` ("" = "file:", the directory of this machine and user) and checks
  // it. Where there is a server to connect to, this takes at most ?op-timeout (default 5 s), and
  // fails at once when nothing listens there; one connection takes at most ?connect-timeout
  // (default 5 s), then another is tried. A stop_token ends it at once, also while a name is looked
  // up or TLS is agreed on.
  // Errors: bad_url, bad_option, unsupported, unavailable, refused, canceled.
  [[nodiscard]] static client open(std::string_view url = {}, const open_options& = {},
                                   std::stop_token = {});
  [[nodiscard]] static client open(std::string_view url, const open_options&, std::stop_token,
                                   std::error_code&);
  [[nodiscard]] static client open(std::string_view url, std::stop_token s) {
    return open(url, {}, std::move(s));
  }
  [[nodiscard]] static client open(std::string_view url, std::error_code& ec) {
    return open(url, {}, {}, ec);
  }

  explicit operator bool() const noexcept { return impl_ != nullptr; }  // not empty

  // `defaults` are the options of lock(), and of every acquire that does not say otherwise
  // (lockable.hpp); the note is copied.
  // Throw errc::bad_name: a name is 1 to 512 bytes of UTF-8 without control characters. For
  // defaults that no acquire can have also bad_option, or unsupported.
  holdfast::mutex mutex(std::string_view name, const acquire_options& defaults = {}) const {
    return {*this, name, defaults};
  }
  holdfast::recursive_mutex recursive_mutex(std::string_view name,
                                            const acquire_options& defaults = {}) const {
    return {*this, name, defaults};
  }
  holdfast::shared_mutex shared_mutex(std::string_view name,
                                      const acquire_options& defaults = {}) const {
    return {*this, name, defaults};
  }
  // Also bad_option, unless permits is 1 to semaphore::permits_max.
  holdfast::semaphore semaphore(std::string_view name, std::uint32_t permits,
                                const acquire_options& defaults = {}) const {
    return {*this, name, permits, defaults};
  }

  // All of these mutexes or none, as with multi_mutex; the verbs are those of every lock
  // (lockable.hpp), after the names. Errors: bad_name and bad_option (no name, one twice) besides.
  //
  //   client.acquire_all({"alice", "bob"}, {.note = "transfer"})
  template <class... E>
  requires detail::call_ending<E...> lease_set acquire_all(const lock_names& names, E&&... ending)
  const { return take_all(names, detail::wait_bound::forever(), nullptr, ending...); }
  template <class... E>
  requires detail::call_ending<E...> lease_set acquire_all(const lock_names& names,
                                                           const acquire_options& o, E&&... ending)
  const { return take_all(names, detail::wait_bound::forever(), &o, ending...); }
  template <class... E>
  requires detail::call_ending<E...> lease_set try_acquire_all(const lock_names& names,
                                                               E&&... ending)
  const { return take_all(names, detail::wait_bound::one_attempt(), nullptr, ending...); }
  template <class... E>
  requires detail::call_ending<E...> lease_set try_acquire_all(const lock_names& names,
                                                               const acquire_options& o,
                                                               E&&... ending)
  const { return take_all(names, detail::wait_bound::one_attempt(), &o, ending...); }
  template <class R, class P, class... E>
  requires detail::call_ending<E...> lease_set try_acquire_all_for(std::chrono::duration<R, P> d,
                                                                   const lock_names& names,
                                                                   E&&... ending)
  const { return take_all(names, detail::within(d), nullptr, ending...); }
  template <class R, class P, class... E>
  requires detail::call_ending<E...> lease_set try_acquire_all_for(std::chrono::duration<R, P> d,
                                                                   const lock_names& names,
                                                                   const acquire_options& o,
                                                                   E&&... ending)
  const { return take_all(names, detail::within(d), &o, ending...); }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease_set
  try_acquire_all_until(std::chrono::time_point<C, D> t, const lock_names& names, E&&... ending)
  const { return take_all(names, detail::within(detail::left_until(t)), nullptr, ending...); }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease_set
  try_acquire_all_until(std::chrono::time_point<C, D> t, const lock_names& names,
                        const acquire_options& o, E&&... ending)
  const { return take_all(names, detail::within(detail::left_until(t)), &o, ending...); }

  // The locks that are held and whose names start with `prefix`, by name. Goes through all that the
  // store keeps: for operators, not for each request of a program.
  std::vector<holder> inspect(std::string_view prefix = {}) const;
  std::vector<holder> inspect(std::string_view prefix, std::error_code&) const;
  // Who holds this lock; empty when it is free. Asks about no other, whatever the store keeps.
  // Errors, of both: unavailable, refused, forked, closed; of this one bad_name besides.
  std::vector<holder> holders(std::string_view name) const;
  std::vector<holder> holders(std::string_view name, std::error_code&) const;
  // Takes the lock away from a holder that one of the two showed: true when it held it until now,
  // false when it is free or another holds it. Errors, besides those of holders(): unsupported,
  // where the backend cannot.
  bool break_lock(std::string_view name, std::string_view holder_seen) const;
  bool break_lock(std::string_view name, std::string_view holder_seen, std::error_code&) const;
  // Removes what locks that nobody uses have left at the store; for operators. On `file:` these are
  // files, which killed processes leave.
  //
  // Returns how many locks they were of; with an error 0, although some may be gone.
  // Errors: errc::unsupported, where a store keeps nothing, or ?unlink=1 is missing; unavailable
  // and refused, when the directory cannot be read or written; forked, closed.
  // Blocks while it goes through the whole directory. Safe from any thread.
  std::size_t remove_unused() const;
  std::size_t remove_unused(std::error_code&) const;

  holdfast::features features() const noexcept;  // of an empty client: none
  std::string url_text() const;                  // without secrets; "" when empty
  // What was counted so far, where the URL says ?metrics=1; also after close().
  holdfast::metrics metrics() const;

  // Every wait ends with errc::closed, every lease is lost from here on and is given back to the
  // store. Returns when the store has answered or ?close-timeout (default 2 s) has passed; true
  // when nothing is left behind. On redis: and memory: what ended with errc::outcome_unknown before
  // counts no more once the store has confirmed it. A second call, by any thread, waits for the
  // first and returns the same; of an empty client it is true.
  bool close() noexcept;

  // The same without blocking, for Boost.Asio: see holdfast/asio.hpp, which these need.
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  static auto async_open(std::string_view url, Token&&... token);
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  static auto async_open(std::string_view url, const open_options& o, Token&&... token);
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_acquire_all(lock_names names, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::wait_bound::forever(), nullptr,
                             std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_acquire_all(lock_names names, const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::wait_bound::forever(), &o,
                             std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all(lock_names names, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::wait_bound::one_attempt(), nullptr,
                             std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all(lock_names names, const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::wait_bound::one_attempt(), &o,
                             std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_for(std::chrono::duration<R, P> d, lock_names names,
                                 Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(d), nullptr,
                             std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_for(std::chrono::duration<R, P> d, lock_names names,
                                 const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(d), &o,
                             std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_until(std::chrono::time_point<C, D> t, lock_names names,
                                   Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(detail::left_until(t)),
                             nullptr, std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_until(std::chrono::time_point<C, D> t, lock_names names,
                                   const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(detail::left_until(t)), &o,
                             std::forward<Token>(token)...);
  }
  template <class... Token>
  auto async_inspect(std::string_view prefix, Token&&... token) const;
  template <class... Token>
  auto async_holders(std::string_view name, Token&&... token) const;
  template <class... Token>
  auto async_break_lock(std::string_view name, std::string_view holder_seen,
                        Token&&... token) const;
  template <class... Token>
  auto async_close(Token&&... token) const;

 private:
  friend class detail::lockable_base;
  friend class memory_store;
  friend struct detail::client_access;
  explicit client(std::shared_ptr<detail::client_impl> impl) noexcept : impl_(std::move(impl)) {}
  template <class... E>
  lease_set take_all(const lock_names& names, detail::wait_bound b, const acquire_options* o,
                     E&&... ending) const {
    return take_all(names, detail::acquire_call(b, o).with(ending...));
  }
  lease_set take_all(const lock_names&, detail::acquire_call) const;
  std::shared_ptr<detail::client_impl> impl_;
};

}  // namespace v0
}  // namespace holdfast
