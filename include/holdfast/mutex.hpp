// The distributed lock in the shape of std::mutex.
#pragma once
#include <holdfast/lockable.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// One lock, identified by its name at the client's store. Its verbs are in lockable.hpp.
//
// Share one object between threads, as with std::mutex: all members are safe to call from any
// thread. lock() by a thread that has locked the name, through any object of the client, throws
// errc::would_self_deadlock. unlock() of an unlocked object does nothing; unlock() by another
// thread is not detected.
//
// Destroying a locked object, or assigning to it, terminates the program. An object may be moved
// while it is unlocked and no thread waits; a moved-from object can only be destroyed or assigned
// to. The destructor does not block. An object is cheap to make (one entry in a table of the
// client), and objects of one name in one client are the same lock.
//
//   void lock()
//   bool try_lock(), try_lock_for(duration), try_lock_until(time_point)
//   void unlock()
//   const lease& current()
//   lease acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_for(duration, const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_until(time_point, const acquire_options& = {}, std::stop_token = {})
//   the same with a final std::error_code&, and async_... for Boost.Asio
//   std::string_view name()
//
//   auto nightly = client.mutex("nightly");
//   std::lock_guard guard(nightly);               // as std::mutex, or:
//   holdfast::lease lease = nightly.acquire();    // to see the token and a loss
class HOLDFAST_CAPABILITY mutex final : public exclusive_lockable {
 public:
  // name      1 to 512 bytes of UTF-8 without control characters; some backends reserve a prefix
  // defaults  the options of lock(), and of the verbs as far as a call leaves them unset; the note
  //           is copied
  // errc::bad_name     the name is not such a name
  // errc::bad_option   a default is out of range
  // errc::unsupported  the backend cannot serve the default ttl or renewal (acquire_options)
  // errc::closed       the client is empty
  // errc::forked       the client was opened before fork(), and this is the child
  // Does not block and sends no request.
  mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {}, defaults, sizeof defaults) {}
  mutex(mutex&&) noexcept = default;
  mutex& operator=(mutex&&) noexcept = default;
};

}  // namespace v0
}  // namespace holdfast
