// A process that may open no more files.
#pragma once
#include <sys/resource.h>

#include <system_error>

namespace holdfast::testkit {

// UndefinedBehaviorSanitizer, which is built in together with AddressSanitizer, checks the type of
// an object through a pipe of its own. Without a descriptor it reports sound objects as broken.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitizer_needs_descriptors = true;
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif

// While it lives, every call that would open a descriptor fails with EMFILE; those open stay.
class no_descriptors {
 public:
  no_descriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) throw failed("getrlimit");
    const rlimit none{0, before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) throw failed("setrlimit");
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  static std::system_error failed(const char* call) {
    return {errno, std::generic_category(), call};
  }
  rlimit before_{};
};

}  // namespace holdfast::testkit
