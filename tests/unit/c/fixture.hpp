// Calls of the C API for tests, with handles that free themselves.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <functional>
#include <memory>
#include <string>

namespace holdfast::c_test {

struct freed {
  void operator()(holdfast_client* c) const { holdfast_client_free(c); }
  void operator()(holdfast_lease* l) const { holdfast_lease_free(l); }
  void operator()(holdfast_error* e) const { holdfast_error_free(e); }
  void operator()(holdfast_stop* s) const { holdfast_stop_free(s); }
};
using client_handle = std::unique_ptr<holdfast_client, freed>;
using lease_handle = std::unique_ptr<holdfast_lease, freed>;
using error_handle = std::unique_ptr<holdfast_error, freed>;
using stop_handle = std::unique_ptr<holdfast_stop, freed>;

inline client_handle opened(const std::string& url) {
  holdfast_client* c = nullptr;
  holdfast_error* e = nullptr;
  EXPECT_EQ(holdfast_client_open(url.c_str(), nullptr, &c, &e), HOLDFAST_OK)
      << holdfast_error_message(e);
  EXPECT_EQ(e, nullptr);
  return client_handle(c);
}

inline lease_handle acquired(const client_handle& c, const char* name,
                             const holdfast_acquire_options* o = nullptr) {
  holdfast_lease* l = nullptr;
  holdfast_error* e = nullptr;
  EXPECT_EQ(holdfast_acquire(c.get(), name, o, &l, &e), HOLDFAST_OK) << holdfast_error_message(e);
  return lease_handle(l);
}

// What one attempt to acquire ends with; the lease, if there is one, is freed.
inline holdfast_errc attempt(const client_handle& c, const char* name,
                             const holdfast_acquire_options* o = nullptr) {
  holdfast_lease* l = nullptr;
  const auto code = holdfast_try_acquire(c.get(), name, o, &l, nullptr);
  EXPECT_EQ(l != nullptr, code == HOLDFAST_OK);
  holdfast_lease_free(l);
  return code;
}

// Expects that a call fails with a code, and that its error has that code and a sentence, which is
// returned.
inline std::string failure(holdfast_errc expected,
                           const std::function<holdfast_errc(holdfast_error**)>& call) {
  holdfast_error* e = nullptr;
  EXPECT_EQ(call(nullptr), expected) << "without an error object";
  EXPECT_EQ(call(&e), expected) << holdfast_error_message(e);
  EXPECT_EQ(holdfast_error_code(e), expected);
  const error_handle owner(e);
  const std::string sentence = holdfast_error_message(e);
  EXPECT_EQ(sentence.empty(), expected == HOLDFAST_OK);
  return sentence;
}

}  // namespace holdfast::c_test
