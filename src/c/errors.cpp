#include <iterator>
#include <system_error>

#include "c/report.hpp"

namespace holdfast::c {
namespace {

constexpr const char* errc_names[] = {"ok",          "timed_out",       "canceled",
                                      "lost",        "not_held",        "would_self_deadlock",
                                      "unavailable", "outcome_unknown", "refused",
                                      "unsupported", "bad_url",         "bad_name",
                                      "bad_option",  "mismatch",        "forked",
                                      "closed",      "exhausted",       "no_quorum"};
static_assert(std::size(errc_names) == HOLDFAST_NO_QUORUM + 1);

constexpr bool equals(holdfast_errc c, errc code) {
  return static_cast<int>(c) == static_cast<int>(code);
}
static_assert(
    equals(HOLDFAST_TIMED_OUT, errc::timed_out) && equals(HOLDFAST_CANCELED, errc::canceled) &&
    equals(HOLDFAST_LOST, errc::lost) && equals(HOLDFAST_NOT_HELD, errc::not_held) &&
    equals(HOLDFAST_WOULD_SELF_DEADLOCK, errc::would_self_deadlock) &&
    equals(HOLDFAST_UNAVAILABLE, errc::unavailable) &&
    equals(HOLDFAST_OUTCOME_UNKNOWN, errc::outcome_unknown) &&
    equals(HOLDFAST_REFUSED, errc::refused) && equals(HOLDFAST_UNSUPPORTED, errc::unsupported) &&
    equals(HOLDFAST_BAD_URL, errc::bad_url) && equals(HOLDFAST_BAD_NAME, errc::bad_name) &&
    equals(HOLDFAST_BAD_OPTION, errc::bad_option) && equals(HOLDFAST_MISMATCH, errc::mismatch) &&
    equals(HOLDFAST_FORKED, errc::forked) && equals(HOLDFAST_CLOSED, errc::closed) &&
    equals(HOLDFAST_EXHAUSTED, errc::exhausted) && equals(HOLDFAST_NO_QUORUM, errc::no_quorum));

constexpr bool means(holdfast_outcome c, outcome group) {
  return static_cast<int>(c) == static_cast<int>(group);
}
static_assert(means(HOLDFAST_GROUP_BUSY, outcome::busy) &&
              means(HOLDFAST_GROUP_UNAVAILABLE, outcome::unavailable) &&
              means(HOLDFAST_GROUP_LOST, outcome::lost) &&
              means(HOLDFAST_GROUP_USAGE, outcome::usage));

holdfast_error no_memory{HOLDFAST_UNAVAILABLE, {}, "there is not enough memory"};

}  // namespace

holdfast_errc report(holdfast_error** to, holdfast_errc code, const char* sentence) noexcept {
  if (!to) return code;
  try {
    *to = new holdfast_error{code, sentence};
    return code;
  } catch (const std::bad_alloc&) {
    return report_no_memory(to);
  }
}

holdfast_errc report_no_memory(holdfast_error** to) noexcept {
  if (to) *to = &no_memory;
  return no_memory.code;
}

void refuse_option(const char* operation, std::string reason) {
  throw lock_error(make_error_code(errc::bad_option), {operation, {}, {}, std::move(reason)});
}

}  // namespace holdfast::c

holdfast_errc holdfast_error_code(const holdfast_error* error) {
  return error ? error->code : HOLDFAST_OK;
}

const char* holdfast_error_message(const holdfast_error* error) {
  if (!error) return "";
  return error->constant ? error->constant : error->text.c_str();
}

void holdfast_error_free(holdfast_error* error) {
  if (error && !error->constant) delete error;
}

const char* holdfast_errc_name(int code) {
  const auto i = static_cast<std::size_t>(code);
  return i < std::size(holdfast::c::errc_names) ? holdfast::c::errc_names[i] : "unknown";
}

holdfast_outcome holdfast_errc_group(int code) {
  const auto condition =
      std::error_code(code, holdfast::error_category()).default_error_condition();
  const bool known = condition.category() == holdfast::outcome_category();
  return known ? static_cast<holdfast_outcome>(condition.value()) : HOLDFAST_GROUP_NONE;
}
