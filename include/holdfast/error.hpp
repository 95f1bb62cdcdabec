// What can go wrong, and how it is told.
//
// Every acquire has one of three outcomes: granted, busy, broken. Busy (somebody else holds the
// lock, or the time given has passed, or the wait was stopped) is never an error of a try_ verb:
// it comes back as an empty lease or false. Broken is always an error, whether it is thrown as
// lock_error or put into a std::error_code.
#pragma once
#include <holdfast/fwd.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A std::error_code with one of them equals a condition of std::errc too:
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
enum class errc {
  timed_out = 1,        // the time given for the wait has passed
  canceled,             // the wait was ended by its stop_token
  lost,                 // the lease ran out or was taken away before it was released
  not_held,             // released or asked of a lease that holds nothing
  would_self_deadlock,  // the calling thread holds this very mutex already
  unavailable,      // the server or the directory cannot be reached, does not answer in time, or
                    // cannot do it for now: passes by itself
  outcome_unknown,  // a request was sent and nothing says whether it took effect
  no_quorum,        // fewer servers than a majority answered
  refused,          // the server or the file system said no: rights, authentication, disk full
  unsupported,      // this backend has no such thing
  bad_url,
  bad_name,
  bad_option,
  mismatch,  // the lock exists with another kind or another count
  forked,    // asked of an object that was made before fork(), in the child
  closed,    // the client was closed
};

// Conditions to compare an error_code with: if (ec == holdfast::outcome::unavailable) ...
enum class outcome {
  busy = 1,     // timed_out, canceled
  unavailable,  // unavailable, outcome_unknown, no_quorum, refused
  lost,         // lost, not_held, forked, closed
  usage,        // would_self_deadlock, unsupported, mismatch, bad_url, bad_name, bad_option
};

HOLDFAST_API const std::error_category& error_category() noexcept;
HOLDFAST_API const std::error_category& outcome_category() noexcept;
HOLDFAST_API std::error_code make_error_code(errc) noexcept;
HOLDFAST_API std::error_condition make_error_condition(outcome) noexcept;

// Thrown by every verb that takes no std::error_code. what() is one sentence that names the
// operation, the lock, the backend (its URL without secrets), what went wrong and what to do; where
// no more is known, the message of code(). Copying never throws.
class lock_error : public std::system_error {
 public:
  struct node {  // one server or directory that was asked
    std::string address;
    std::error_code code;
    std::string text;
  };
  struct details {
    std::string operation, lock, backend, remedy;
    std::vector<node> nodes;
  };
  lock_error(std::error_code, details);

  const char* what() const noexcept override { return report_->text.c_str(); }
  std::string_view operation() const noexcept { return report_->operation; }
  std::string_view lock() const noexcept { return report_->lock; }
  std::string_view backend() const noexcept { return report_->backend; }
  // The last part of what(): what went wrong and what to do. Empty: the message of code().
  std::string_view remedy() const noexcept { return report_->remedy; }
  std::span<const node> nodes() const noexcept { return report_->nodes; }

 private:
  struct report : details {
    std::string text;
  };
  std::shared_ptr<const report> report_;
};

}  // namespace v0
}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::outcome> : std::true_type {};
