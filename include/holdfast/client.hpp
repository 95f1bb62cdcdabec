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
#include <concepts>
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

// The fencing tokens of readers that hold a lock together.
enum class reader_tokens : unsigned char {
  none,    // there are no readers
  common,  // one token for all of them
  own,     // each has the token of its own grant; readers of one client share a grant
};

// The abilities of a layout for one kind of lock, for programs that adapt to it. docs/features.md
// lists the features of every layout.
struct features {
  bool ttl = false;         // each lease has a ttl: ttl, renewal and extend() have a meaning
  bool deadline = false;    // leases end unless they are confirmed: by their ttl, or with a session
  bool fifo = false;        // waiting clients are served in the order of their arrival
  bool durable = false;     // tokens grow even after the data of the lock were deleted
  bool processes = false;   // locks exclude other processes
  bool breakable = false;   // break_lock() can take a lock away
  bool revocation = false;  // break_lock() asks the holder first: lease::revocation_token()
  bool tokens = false;  // each lease has a fencing token; else token() is 0, and guards refuse it
  bool unsafe = false;  // a demonstration: two clients may hold one lock at the same time
  // The following describe the client, whichever kind the others describe.
  bool shared = false;   // it has shared_mutex; if not, what describes readers is false or none
  bool permits = false;  // it has semaphore
  holdfast::reader_tokens reader_tokens = holdfast::reader_tokens::none;
  bool writer_preference = false;  // while a writer waits, no client admits later readers
  bool downgrade = false;  // a downgrade admits readers of other clients at once; else its release
};

// A connection to one lock store: it makes locks, lists their holders and counts what it does.
//
// A counted reference: copies are the same client, and all members are safe to call from any
// thread. Leases, locks and copies keep the client alive. The destructor of the last one closes the
// client and then blocks as close() does, at most ?close-timeout= (default 2 s). So does the
// assignment to the last one.
//
// A default constructed or moved-from client is empty, and so is the result of open() with an
// error: whatever needs a store fails with errc::closed.
//
// Members come in two forms: with a std::error_code& they set it exactly when the other form throws
// lock_error, else they clear it.
class client {
 public:
  client() noexcept = default;

  // Opens the store of a URL and checks that it can be used.
  //
  // url              docs/options.md lists the options; a text, or a holdfast::url. "file:" is a
  //                  directory of this machine and user. Default: $HOLDFAST_URL
  // open_options     default: the options of the URL
  // std::stop_token  ends the call at once, also during a name look-up or a TLS handshake
  // Returns the client; with an error, an empty one.
  // errc::bad_url      the URL is empty or malformed, its scheme is unknown, or its password
  //                    cannot be read; without a URL, $HOLDFAST_URL is unset or empty
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
  //
  // Options, stop token and error_code follow the URL in this order, each of them optional.
  [[nodiscard]] static client open();
  [[nodiscard]] static client open(std::error_code&);
  [[nodiscard]] static client open(std::string_view url, const open_options& = {},
                                   std::stop_token = {});
  [[nodiscard]] static client open(std::string_view url, const open_options&, std::stop_token,
                                   std::error_code&);
  [[nodiscard]] static client open(const holdfast::url&, const open_options& = {},
                                   std::stop_token = {});
  [[nodiscard]] static client open(const holdfast::url&, const open_options&, std::stop_token,
                                   std::error_code&);
  template <class Url>
  [[nodiscard]] static client open(const Url& url, const open_options& o, std::error_code& ec) {
    return open(url, o, std::stop_token(), ec);
  }
  template <class Url, std::same_as<std::stop_token> Stop>
  [[nodiscard]] static client open(const Url& url, Stop s) {
    return open(url, open_options(), std::move(s));
  }
  template <class Url, std::same_as<std::stop_token> Stop>
  [[nodiscard]] static client open(const Url& url, Stop s, std::error_code& ec) {
    return open(url, open_options(), std::move(s), ec);
  }
  template <class Url>
  [[nodiscard]] static client open(const Url& url, std::error_code& ec) {
    return open(url, open_options(), std::stop_token(), ec);
  }

  // The statements that create the tables of this URL's locks where they are missing, for a user
  // that may create tables. Then the client's own user needs no such right: without the tables it
  // creates them itself. Empty for stores that have none. Connects to nothing and does not block.
  //
  // errc::bad_url, bad_option, unsupported  as open()
  static std::vector<std::string> schema(std::string_view url);
  static std::vector<std::string> schema(std::string_view url, std::error_code&);

  // True unless empty; even after close().
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  // Makes a lock object for a name. Arguments and errors are those of the constructors of mutex and
  // semaphore. Does not block and sends no request.
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
  holdfast::semaphore semaphore(std::string_view name, std::uint32_t total_permits,
                                const acquire_options& defaults = {}) const {
    return {*this, name, total_permits, defaults};
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
  requires detail::call_ending<E...> lease_set try_acquire_all_for(const lock_names& names,
                                                                   std::chrono::duration<R, P> d,
                                                                   E&&... ending)
  const { return take_all(names, detail::within(d), nullptr, ending...); }
  template <class R, class P, class... E>
  requires detail::call_ending<E...> lease_set try_acquire_all_for(const lock_names& names,
                                                                   std::chrono::duration<R, P> d,
                                                                   const acquire_options& o,
                                                                   E&&... ending)
  const { return take_all(names, detail::within(d), &o, ending...); }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease_set
  try_acquire_all_until(const lock_names& names, std::chrono::time_point<C, D> t, E&&... ending)
  const { return take_all(names, detail::within(detail::left_until(t)), nullptr, ending...); }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease_set
  try_acquire_all_until(const lock_names& names, std::chrono::time_point<C, D> t,
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
  std::vector<holder> list(std::string_view prefix = {}) const;
  std::vector<holder> list(std::string_view prefix, std::error_code&) const;
  // Lists the holders of one lock; empty when it is free. Its cost does not depend on the number of
  // locks in the store.
  //
  // errc::bad_name  the name is not a lock name (mutex)
  // The others, and blocking, as for list().
  std::vector<holder> holders(std::string_view name) const;
  std::vector<holder> holders(std::string_view name, std::error_code&) const;
  // Whether any holder has the lock now, this client included. Errors, and blocking, as for
  // holders().
  bool is_held(std::string_view name) const { return !holders(name).empty(); }
  bool is_held(std::string_view name, std::error_code& ec) const {
    return !holders(name, ec).empty();
  }
  // Takes a lock away from one holder. That holder loses its lease, and the next waiter is served.
  // In ZooKeeper the holder is asked first (lease::revocation_token()) and has the URL's
  // revocation-timeout= (default 1 s; 0s: none) to release, for which this waits too.
  //
  // holder_seen  holder::owner, as list() or holders() returned it, or lease::owner()
  // Returns true if the lock was taken from that holder, false if it is free or has another holder.
  // errc::unsupported      the backend cannot (features().breakable is false): with file:, even for
  //                        a lock that is free
  // errc::outcome_unknown  the store did not reply in time: the lock may have been taken away. A
  //                        lost connection is errc::unavailable, and leaves the same doubt.
  // The others, and blocking, as for holders().
  bool break_lock(std::string_view name, std::string_view holder_seen) const;
  bool break_lock(std::string_view name, std::string_view holder_seen, std::error_code&) const;
  // Removes what unused locks left behind in the store: on `file:` the files that killed processes
  // leave; on `mysql:` expired records of strategy `insert`, and of `row` the expired readers and
  // holders of permits. For operators.
  //
  // Returns the number of locks that were removed; with an error 0, although some may be gone.
  // errc::unsupported  this store removes by itself what they leave, or its URL lacks ?unlink=1
  // errc::unavailable  the directory cannot be read, or the server cannot be reached
  // errc::refused      the file system or the server denied it
  // errc::closed       the client was closed or is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks while it reads the whole directory or table.
  std::size_t prune() const;
  std::size_t prune(std::error_code&) const;

  // Examines the store: whether its settings, its clock and this user's rights let it keep the
  // promises of docs/safety.md. For operators. Changes nothing in the store, except that it creates
  // and deletes a node in ZooKeeper.
  //
  // Returns the findings in a fixed order, at least one; docs/cli.md lists them for each backend.
  // If this user may not read a fact, the finding begins with "not known:". That is not
  // an error.
  // errc::unavailable  the store cannot be reached or did not reply in time
  // errc::closed       the client was closed or is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Blocks for about a dozen round trips to a server, none longer than the op-timeout (default
  // 5 s); not at all on memory:, and for a few system calls on file:.
  std::vector<finding> diagnose() const;
  std::vector<finding> diagnose(std::error_code&) const;

  // The abilities of the layout for locks of that kind; without an argument for mutexes, or for
  // semaphores where the layout has only those. A layout family keeps each kind in a layout of its
  // own; elsewhere all kinds have the same features. All false for an empty client, and for a kind
  // that the client does not have.
  holdfast::features features() const noexcept;
  holdfast::features features(lock_kind) const noexcept;
  // The URL without secrets; "" when empty.
  std::string url_text() const;
  // A snapshot of what was counted since open(), if the URL has ?metrics=1; even after close().
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
  auto async_try_acquire_all_for(lock_names names, std::chrono::duration<R, P> d,
                                 Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(d), nullptr,
                             std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_for(lock_names names, std::chrono::duration<R, P> d,
                                 const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(d), &o,
                             std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_until(lock_names names, std::chrono::time_point<C, D> t,
                                   Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(detail::left_until(t)),
                             nullptr, std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_all_until(lock_names names, std::chrono::time_point<C, D> t,
                                   const acquire_options& o, Token&&... token) const {
    return start_acquire_all(*this, std::move(names), detail::within(detail::left_until(t)), &o,
                             std::forward<Token>(token)...);
  }
  template <class... Token>
  auto async_list(std::string_view prefix, Token&&... token) const;
  template <class... Token>
  auto async_holders(std::string_view name, Token&&... token) const;
  template <class... Token>
  auto async_break_lock(std::string_view name, std::string_view holder_seen,
                        Token&&... token) const;
  template <class... Token>
  auto async_diagnose(Token&&... token) const;
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
