// The program for ThreadSanitizer leaves out tests that start no thread. One of them that starts
// one fails, so that none escapes ThreadSanitizer.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view tests_without_threads[] = {HOLDFAST_TESTS_WITHOUT_THREADS};

void check_that_threads_are_expected() {
  const auto* const running = testing::UnitTest::GetInstance()->current_test_info();
  if (!running) return;
  const std::string_view file = running->file();
  const bool is_left_out =
      std::any_of(std::begin(tests_without_threads), std::end(tests_without_threads),
                  [&](std::string_view beginning) {
                    return file.find("unit/" + std::string(beginning)) != file.npos;
                  });
  if (is_left_out)
    ADD_FAILURE() << file << " starts a thread, and ThreadSanitizer does not run it: take it "
                  << "out of tests_without_threads in tests/CMakeLists.txt";
}

}  // namespace

// Found before the C library's, also by the C++ library.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             const pthread_attr_t* attributes,
                                                             void* (*start)(void*),
                                                             void* argument) noexcept {
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  check_that_threads_are_expected();
  return next(thread, attributes, start, argument);
}
