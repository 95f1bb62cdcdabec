#include <holdfast/error.hpp>

namespace holdfast::inline v0 {
namespace {

struct errc_row {
  errc code;
  outcome means;
  std::errc portable;
  const char* text;
};

constexpr errc_row rows[] = {
    {errc::timed_out, outcome::busy, std::errc::timed_out, "the wait timed out"},
    {errc::canceled, outcome::busy, std::errc::operation_canceled, "the wait was stopped"},
    {errc::lost, outcome::lost, std::errc::owner_dead, "the lease was lost"},
    {errc::not_held, outcome::lost, std::errc::operation_not_permitted, "the lock is not held"},
    {errc::would_self_deadlock, outcome::usage, std::errc::resource_deadlock_would_occur,
     "this thread holds the lock already"},
    {errc::unavailable, outcome::unavailable, std::errc::host_unreachable,
     "the store cannot be reached"},
    {errc::outcome_unknown, outcome::unavailable, std::errc::state_not_recoverable,
     "it is unknown whether it took effect"},
    {errc::refused, outcome::unavailable, std::errc::permission_denied,
     "the store refused the request"},
    {errc::unsupported, outcome::usage, std::errc::not_supported, "not supported by this store"},
    {errc::bad_url, outcome::usage, std::errc::invalid_argument, "not a valid URL"},
    {errc::bad_name, outcome::usage, std::errc::invalid_argument, "not a valid name"},
    {errc::bad_option, outcome::usage, std::errc::invalid_argument, "not a valid option"},
    {errc::mismatch, outcome::usage, std::errc::invalid_argument, "the lock is of another kind"},
    {errc::forked, outcome::lost, std::errc::operation_not_permitted,
     "created before fork() and unusable in the child"},
    {errc::closed, outcome::lost, std::errc::bad_file_descriptor, "the client was closed"},
    {errc::exhausted, outcome::unavailable, std::errc::value_too_large,
     "a range of numbers of the store is used up"},
    {errc::no_quorum, outcome::unavailable, std::errc::host_unreachable,
     "too few servers for a majority"},
};

const errc_row* find(int code) noexcept {
  for (const errc_row& row : rows)
    if (static_cast<int>(row.code) == code) return &row;
  return nullptr;
}

class errc_category final : public std::error_category {
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override {
    const errc_row* row = find(code);
    return row ? row->text : "unknown error";
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    const errc_row* row = find(code);
    return row ? make_error_condition(row->means) : std::error_condition(code, *this);
  }
  bool equivalent(int code, const std::error_condition& asked) const noexcept override {
    const errc_row* row = find(code);
    return (row && asked == make_error_condition(row->portable)) ||
           asked == default_error_condition(code);
  }
};

class condition_category final : public std::error_category {
  const char* name() const noexcept override { return "holdfast outcome"; }
  std::string message(int code) const override {
    switch (static_cast<outcome>(code)) {
      case outcome::busy: return "busy";
      case outcome::unavailable: return "unavailable";
      case outcome::lost: return "lost";
      case outcome::usage: return "wrong use";
    }
    return "unknown outcome";
  }
};

// The texts of failures separate the remedy from the reason with their last "; ".
constexpr std::string_view before_remedy = "; ";

// "acquire \"nightly\" at file:///run/lock/x: the reason; the remedy".
std::string sentence(std::error_code code, const lock_error::details& d) {
  std::string text = d.operation;
  if (!d.lock.empty()) text += " \"" + d.lock + '"';
  if (!d.backend.empty()) text += " at " + d.backend;
  text += text.ends_with(':') ? " " : ": ";  // "memory:" has its colon
  return text + (d.text.empty() ? code.message() : d.text);
}

}  // namespace

// Neither category is ever destroyed: a client may outlive main().
const std::error_category& error_category() noexcept {
  static const auto& category = *new errc_category;
  return category;
}

const std::error_category& outcome_category() noexcept {
  static const auto& category = *new condition_category;
  return category;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

std::error_condition make_error_condition(outcome means) noexcept {
  return {static_cast<int>(means), outcome_category()};
}

lock_error::lock_error(std::error_code code, details d) : std::system_error(code) {
  std::string text = sentence(code, d);
  report_ = std::make_shared<const report>(report{std::move(d), std::move(text)});
}

std::string_view lock_error::reason() const noexcept {
  const std::string_view text = detail();
  return text.substr(0, text.rfind(before_remedy));
}

std::string_view lock_error::remedy() const noexcept {
  const std::string_view text = detail();
  const auto at = text.rfind(before_remedy);
  return at == text.npos ? std::string_view() : text.substr(at + before_remedy.size());
}

}  // namespace holdfast::inline v0
