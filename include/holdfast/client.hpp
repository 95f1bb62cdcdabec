// A connection to one lock store.
#pragma once
#include <holdfast/detail/fwd.hpp>
#include <holdfast/detail/verbs.hpp>
#include <holdfast/finding.hpp>
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
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// What a backend can do, for programs that adapt to it.
struct features {
  bool ttl = false;        // each lease has a ttl: ttl, renewal and extend() have a meaning
  bool deadline = false;   // leases end unless they are confirmed: by their ttl, or with a session
  bool fifo = false;       // waiters are served in the order of their arrival
  bool durable = false;    // tokens keep growing after the processes that used them have ended
  bool processes = false;  // locks exclude other processes
  bool breakable = false;  // break_lock() can take a lock away
  bool shared = false;     // shared_mutex
  bool permits = false;    // semaphore
  bool tokens = false;  // each lease has a fencing token; else token() is 0, and guards refuse it
  bool unsafe = false;  // a layout for study: two clients may hold one lock
};

// A connection to one lock store: it makes locks, lists their holders and counts what it does.
//
// A counted reference: copies are the same client, and all members are safe to call from any
// thread. Leases, locks and copies keep the client alive; the end of the last one closes it.
//
// A default constructed client is empty, and so is the result of open() with an error: whatever
// needs a store fails with errc::closed.
//
// Members come in two forms: with a std::error_code& they set it exactly when the other form throws
// lock_error, else they clear it.
class client {
 public:
  client() noexcept = default;

  // Opens the store of a URL and checks that it can be used.
  //
  // url              docs/options.md lists the options; default: "" means "file:", a directory of
  //                  this machine and user
  // open_options     default: the options of the URL
  // std::stop_token  ends the call at once, also during a name look-up or a TLS handshake
  // Returns the client; with an error, an empty one.
  // errc::bad_url      the URL is malformed, its scheme is unknown, or its password cannot be read
  // errc::bad_option   an option is unknown, given where it has no meaning, or out of range; a file
  //                    that it names cannot be read
  // errc::unsupported  this version or this build has no such backend; the directory's file system
  //                    has no flock
  // errc::unavailable  the server cannot be reached, does not reply in time or cannot serve now;
  //                    the directory cannot be made
  // errc::refused      the server refuses the user, the password or a command; its certificate is
  //                    not trusted; the directory may not be used, or others could take its locks
  // errc::canceled     stop was requested
  // Blocks, where there is a server, at most ?op-timeout (default 5 s), and fails at once when
  // nothing listens; each connection is given ?connect-timeout (default 5 s), then another is
  // tried.
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

  // True unless empty; also after close().
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  // Makes a lock object for a name. Arguments and errors are those of the constructors of mutex and
  // semaphore. Does not block and asks no server.
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
  holdfast::semaphore semaphore(std::string_view name, std::uint32_t permits,
                                const acquire_options& defaults = {}) const {
    return {*this, name, permits, defaults};
  }

  // Acquires the mutexes of these names, all or none of them, as multi_mutex does. The arguments
  // after the names, and the errors, are those of the verbs of every lock (lockable.hpp).
  //
  // errc::bad_name    a name is not a lock name (mutex)
  // errc::bad_option  also when no name is given, or one twice
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

  // Lists the holders of all locks whose names start with `prefix`, sorted by name. For operators:
  // its cost grows with the number of locks in the store. Locks that this user of the server may
  // not read are left out.
  //
  // prefix  default: "", all locks
  // errc::unavailable  the store cannot be reached or did not reply in time; for file: also a
  //                    directory that cannot be listed
  // errc::refused      the server or the file system denied it
  // errc::closed       the client was closed or is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks until the store has replied; no single reply takes longer than the op-timeout (default
  // 5 s).
  std::vector<holder> inspect(std::string_view prefix = {}) const;
  std::vector<holder> inspect(std::string_view prefix, std::error_code&) const;
  // Lists the holders of one lock; empty when it is free. Its cost does not depend on the number of
  // locks in the store.
  //
  // errc::bad_name  the name is not a lock name (mutex)
  // The others, and blocking, as for inspect().
  std::vector<holder> holders(std::string_view name) const;
  std::vector<holder> holders(std::string_view name, std::error_code&) const;
  // Takes a lock away from one holder. That holder loses its lease, and the next waiter is served.
  // At ZooKeeper the holder is asked first (lease::revocation_requested()) and has the URL's
  // revocation-timeout= (default 1 s; 0s: none) to release, for which this waits too.
  //
  // holder_seen  holder::owner, as inspect() or holders() returned it, or lease::owner()
  // Returns true when that holder had the lock until now, false when it is free or another has it.
  // errc::unsupported      the backend cannot (features().breakable is false)
  // errc::outcome_unknown  the store did not reply in time: the lock may have been taken away. A
  //                        lost connection is errc::unavailable, and leaves the same doubt.
  // The others, and blocking, as for holders().
  bool break_lock(std::string_view name, std::string_view holder_seen) const;
  bool break_lock(std::string_view name, std::string_view holder_seen, std::error_code&) const;
  // Removes what unused locks have left in the store: on `file:` the files that killed processes
  // leave. For operators.
  //
  // Returns the number of locks that were removed; with an error 0, although some may be gone.
  // errc::unsupported  this store removes by itself what they leave, or its URL lacks ?unlink=1
  // errc::unavailable  the directory cannot be read
  // errc::refused      the file system denied it
  // errc::closed       the client was closed or is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks while it reads the whole directory.
  std::size_t remove_unused() const;
  std::size_t remove_unused(std::error_code&) const;

  // Examines the store: whether its settings, its clock and this user's rights let it keep the
  // promises of docs/safety.md. For operators; changes nothing at the store.
  //
  // Returns the findings in a fixed order, at least one; docs/cli.md lists them for each backend.
  // What this user may not read is a finding that says so ("not known: ..."), not an error.
  // errc::unavailable  the store cannot be reached or did not reply in time
  // errc::closed       the client was closed or is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks for about a dozen round trips to a server, none longer than the op-timeout (default
  // 5 s); not at all on memory:, and for a few system calls on file:.
  std::vector<finding> examine() const;
  std::vector<finding> examine(std::error_code&) const;

  // What the backend can do; all false for an empty client.
  holdfast::features features() const noexcept;
  // The URL without secrets; "" when empty.
  std::string url_text() const;
  // A snapshot of what was counted since open(), if the URL has ?metrics=1; also after close().
  holdfast::metrics metrics() const;

  // Ends every wait with errc::closed, and every lease: its status() is errc::closed from here on,
  // and its lock is released at the store.
  //
  // Returns true when nothing of this client is left in the store. On redis: and memory: a release
  // that had ended with errc::outcome_unknown does not count once the store has confirmed it. True
  // for an empty client, and in the child of a fork().
  // Blocks until the store has replied, at most ?close-timeout (default 2 s). A second call, by any
  // thread, waits for the first and returns the same.
  bool close() noexcept;

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
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
  auto async_examine(Token&&... token) const;
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
