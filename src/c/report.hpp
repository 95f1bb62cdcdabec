// How a call of the C API ends: its exception becomes a code and a holdfast_error.
#pragma once
#include <holdfast/holdfast.h>
#include <holdfast/error.hpp>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

struct holdfast_error {
  holdfast_errc code;
  std::string text;
  const char* constant = nullptr;  // instead of `text`, where none can be allocated
};

namespace holdfast::c {

inline std::string_view text_or_empty(const char* text) noexcept {
  return text ? std::string_view(text) : std::string_view();
}

// Sets *to, unless `to` is null, and returns the code.
holdfast_errc report(holdfast_error** to, holdfast_errc code, const char* sentence) noexcept;
holdfast_errc report_no_memory(holdfast_error** to) noexcept;

[[noreturn]] void refuse_option(const char* operation, std::string reason);

// Runs one call of the C API. noexcept: an exception that is not std::exception ends the program,
// which is what an unwinding thread (pthread_cancel) would get from a handler too.
template <class Call>
holdfast_errc reported(holdfast_error** error, Call&& call) noexcept {
  if (error) *error = nullptr;
  try {
    std::forward<Call>(call)();
    return HOLDFAST_OK;
  } catch (const lock_error& e) {
    return report(error, static_cast<holdfast_errc>(e.code().value()), e.what());
  } catch (const std::bad_alloc&) {
    return report_no_memory(error);
  } catch (const std::exception& e) {
    return report(error, HOLDFAST_UNAVAILABLE, e.what());
  }
}

}  // namespace holdfast::c
