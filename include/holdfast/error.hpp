// Errors, and how they are reported.
//
// Every acquire has one of three outcomes: granted, busy or broken. Busy means that another holder
// has the lock, the time given has passed, or the wait was stopped. For a try_ verb busy is never
// an error: it returns an empty lease or false. Broken is always an error: a verb throws it as
// lock_error or puts it into its std::error_code.
#pragma once
#include <holdfast/fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The reason of a failure. A std::error_code that holds one also equals a condition of std::errc:
//
//   std::errc                     | holdfast::errc
//   ------------------------------+--------------------------------------
//   timed_out                     | timed_out
//   operation_canceled            | canceled
//   owner_dead                    | lost
//   operation_not_permitted       | not_held, forked
//   resource_deadlock_would_occur | would_self_deadlock
//   host_unreachable              | unavailable, no_quorum
//   state_not_recoverable         | outcome_unknown
//   permission_denied             | refused
//   not_supported                 | unsupported
//   invalid_argument              | bad_url, bad_name, bad_option, mismatch
//   bad_file_descriptor           | closed
//   value_too_large               | exhausted
//
// Whether the same call may succeed later, without a change of the program or its configuration:
//
//   retry  | errc
//   -------+---------------------------------------------------------------------------------------
//   yes    | timed_out, canceled: the lock was busy; unavailable, no_quorum: the store was out of
//          | reach
//   again  | lost, not_held: acquire again, and repeat the work that needs the lock; closed: open a
//          | new client; outcome_unknown: an acquire or release may have taken effect, and to
//          | acquire again is safe; a write must be checked at the resource first
//   no     | would_self_deadlock, refused, unsupported, bad_url, bad_name, bad_option, mismatch,
//          | forked, exhausted: fix the cause first
enum class errc {
  timed_out = 1,        // the time given for the wait has passed
  canceled,             // the wait was ended by its stop_token or its cancellation slot
  lost,                 // the lease expired or was taken away before it was released
  not_held,             // the lease is empty or was released
  would_self_deadlock,  // the calling thread already holds this lock, and would wait for itself
  // The server or the directory cannot be reached, does not answer in time, or cannot serve now
  // (it is loading, read-only, out of memory). Also: no thread can be started. Passes by itself.
  unavailable,
  outcome_unknown,  // a request was sent, and no reply confirms whether it took effect
  refused,  // the server or the file system denied it: rights, authentication, disk full, a file
            // or a directory that cannot be trusted
  unsupported,  // this backend or this build cannot do it
  bad_url,      // the URL is malformed, or its password cannot be read
  bad_name,    // not 1 to 512 bytes of UTF-8 without control characters, or reserved by the backend
  bad_option,  // an option is unknown or out of range
  // The name is in use for another kind of lock, another number of permits or other data; or the
  // lease belongs to another lock.
  mismatch,
  forked,  // the object was made before fork() and is used in the child
  closed,  // the client was closed or is empty
  // A range of numbers of the store is used up, and no lock can be granted there: the sequence of a
  // lock's nodes, the epochs of an ensemble. It does not pass by itself.
  exhausted,
  // With redlock: too few of the servers can be reached, or may vote, for a majority. The reason
  // names each of these servers. Passes by itself.
  no_quorum,
};

// Groups of codes, for handling errors: if (ec == holdfast::outcome::unavailable) ...
enum class outcome {
  busy = 1,     // timed_out, canceled
  unavailable,  // unavailable, no_quorum, outcome_unknown, refused, exhausted
  lost,         // lost, not_held, forked, closed
  usage,        // would_self_deadlock, unsupported, mismatch, bad_url, bad_name, bad_option
};

// The categories behind errc and outcome, and what std::error_code and std::error_condition need to
// convert from them. Safe to call from any thread.
HOLDFAST_API const std::error_category& error_category() noexcept;
HOLDFAST_API const std::error_category& outcome_category() noexcept;
HOLDFAST_API std::error_code make_error_code(errc) noexcept;
HOLDFAST_API std::error_condition make_error_condition(outcome) noexcept;

// The exception of every verb that is called without a std::error_code. Copying never throws.
class lock_error : public std::system_error {
 public:
  struct details {
    std::string operation, lock, backend;  // the parts of what(); each may be empty
    std::string text;  // the reason; behind the last "; " the remedy, if there is one
  };
  lock_error(std::error_code, details);

  // One sentence: the operation, the lock, the backend (its URL without secrets), what went wrong
  // and the remedy; or the message of code() where no more is known.
  const char* what() const noexcept override { return report_->sentence.c_str(); }
  // The parts of what(). Each may be empty.
  std::string_view operation() const noexcept { return report_->operation; }
  std::string_view lock() const noexcept { return report_->lock; }
  std::string_view backend() const noexcept { return report_->backend; }
  // The cause of the failure, as far as it is known.
  std::string_view reason() const noexcept;
  // The remedy; empty if what() states none.
  std::string_view remedy() const noexcept;
  // The last part of what(): the reason, and after "; " the remedy. Empty: what() ends with the
  // message of code().
  std::string_view detail() const noexcept { return report_->text; }

 private:
  struct report : details {
    std::string sentence;
  };
  std::shared_ptr<const report> report_;
};

}  // namespace v0
}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::outcome> : std::true_type {};
