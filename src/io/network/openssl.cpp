#include "io/network/openssl.hpp"

#include <dlfcn.h>
#include <openssl/opensslv.h>

#include <string>

namespace holdfast::io {
namespace {

#define HOLDFAST_TEXT_OF(x) #x
#define HOLDFAST_TEXT(x) HOLDFAST_TEXT_OF(x)
#ifdef OPENSSL_SHLIB_VERSION
constexpr const char* library = "libssl.so." HOLDFAST_TEXT(OPENSSL_SHLIB_VERSION);
#else
constexpr const char* library = "libssl.so." SHLIB_VERSION_NUMBER;
#endif

// Never unloaded: OpenSSL does not support it safely.
struct loaded {
  openssl_functions functions;
  std::string trouble;

  loaded() {
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps one text for each thread
      trouble = std::string("OpenSSL cannot be loaded (") + ::dlerror() +
                "); install the package that has " + library;
      return;
    }
    // libssl loads libcrypto, and dlsym() searches it too.
#define HOLDFAST_OPENSSL_FIND(name)                                             \
  functions.name = reinterpret_cast<decltype(&::name)>(::dlsym(handle, #name)); \
  if (!functions.name) trouble = std::string(library) + " has no " #name "; install another";
    HOLDFAST_OPENSSL_FUNCTIONS(HOLDFAST_OPENSSL_FIND)
#undef HOLDFAST_OPENSSL_FIND
  }
};

}  // namespace

const openssl_functions* openssl(const char** why) noexcept {
  static const loaded all;
  if (why) *why = all.trouble.c_str();
  return all.trouble.empty() ? &all.functions : nullptr;
}

}  // namespace holdfast::io
