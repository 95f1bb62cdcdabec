// The door to one backend.
#pragma once
#include <holdfast/metrics.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/url.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// Who holds a lock, as far as the backend tells. Of readers and of holders of permits each is one.
struct holder {
  std::string name;        // of the lock
  std::string owner;       // an opaque id, for break_lock()
  std::string note, host;  // of the first turn under the grant that is held
  lock_mode how = lock_mode::exclusive;
  std::uint32_t permits = 0;  // of a semaphore: those that this holder has, and of how many
  std::uint32_t of = 0;
  std::int64_t token = 0;            // 0: not stored with the lock
  std::int64_t pid = 0;              // 0: not known
  std::chrono::milliseconds held{};  // for how long
  // Until it runs out unless it is renewed; max(): it has no ttl.
  std::chrono::milliseconds left = std::chrono::milliseconds::max();
  int waiting = 0;  // how many wait at the backend; -1: not known
};

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
class client {
 public:
  // Opens the backend of `url` ("" = "file:", the directory of this machine and user) and checks
  // it; where there is a server to connect to, bounded by ?connect-timeout (default 5 s) and the
  // stop_token. Errors: bad_url, bad_option, unsupported, unavailable, refused, canceled.
  static client open(std::string_view url = {}, const open_options& = {}, std::stop_token = {});
  static client open(std::string_view url, const open_options&, std::stop_token, std::error_code&);

  // False for what the error_code form of open() returns with an error.
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  // Throw errc::bad_name: a name is 1 to 512 bytes of UTF-8 without control characters.
  holdfast::mutex mutex(std::string_view name) const { return {*this, name}; }
  holdfast::recursive_mutex recursive_mutex(std::string_view name) const { return {*this, name}; }
  holdfast::shared_mutex shared_mutex(std::string_view name) const { return {*this, name}; }
  // Also bad_option, unless permits is 1 to semaphore::permits_max.
  holdfast::semaphore semaphore(std::string_view name, std::uint32_t permits) const {
    return {*this, name, permits};
  }
  // All of these mutexes or none, as multi_mutex; throws lock_error when not granted.
  lease_set acquire_all(std::span<const std::string_view> names, const acquire_options& = {},
                        std::stop_token = {}) const;
  lease_set acquire_all(std::initializer_list<std::string_view> names,
                        const acquire_options& o = {}, std::stop_token s = {}) const {
    return acquire_all(std::span(names.begin(), names.size()), o, std::move(s));
  }

  // The locks that are held and whose names start with `prefix`, by name. Goes through all that the
  // store keeps: for operators, not for each request of a program.
  std::vector<holder> inspect(std::string_view prefix = {}) const;
  // Who holds this lock; empty when it is free. Asks about no other, whatever the store keeps.
  // Errors, of both: unavailable, refused, forked, closed; of this one bad_name besides.
  std::vector<holder> holders(std::string_view name) const;
  // Takes the lock away from a holder that one of the two showed: true when it held it until now,
  // false when it is free or another holds it. Errors: unsupported, where the backend cannot.
  bool break_lock(std::string_view name, std::string_view holder_seen) const;
  // Removes what locks that nobody uses have left at the store, and says how many locks that were.
  // On `file:` these are files, which killed processes leave; for operators. Errors: unsupported,
  // where nothing is left, or ?unlink=1 is missing; unavailable, refused, forked, closed.
  std::size_t remove_unused() const;

  holdfast::features features() const noexcept;
  std::string url_text() const;  // without secrets
  // What was counted so far, where the URL says ?metrics=1; also after close().
  holdfast::metrics metrics() const;

  // Every wait ends with errc::closed, every lease is lost from here on and is given back to the
  // store. Returns when the store has answered or ?close-timeout (default 2 s) has passed; true
  // when nothing is left behind.
  bool close() noexcept;

 private:
  friend class detail::lockable_base;
  friend class memory_store;
  friend struct detail::client_access;
  explicit client(std::shared_ptr<detail::client_impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<detail::client_impl> impl_;
};

}  // namespace v0
}  // namespace holdfast
