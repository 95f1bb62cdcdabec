// Throwing a lock_error in one line.
#pragma once
#include <holdfast/error.hpp>
#include <holdfast/url.hpp>

#include <string>
#include <string_view>

namespace holdfast::base {

[[noreturn]] inline void fail(errc code, std::string_view operation, std::string text,
                              std::string_view lock = {}, std::string_view backend = {}) {
  throw lock_error(code, {std::string(operation), std::string(lock), std::string(backend),
                          std::move(text)});
}

// The URL cannot be opened.
[[noreturn]] inline void refuse_url(const url& where, std::string why) {
  fail(errc::bad_url, "open", std::move(why), {}, where.text());
}

// Returns what f() returns. With an `ec`, a lock_error that f() throws is stored there instead, and
// the result is empty.
template <class F>
auto in_either_form(std::error_code* ec, F f) -> decltype(f()) {
  using result = decltype(f());
  if (!ec) return f();
  ec->clear();
  try {
    return f();
  } catch (const lock_error& e) {
    *ec = e.code();
    return result();
  }
}

}  // namespace holdfast::base
