#include "io/network/openssl.hpp"

#include <openssl/opensslv.h>

#include <string>

#include "base/shared_library.hpp"

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
    void* const handle = base::load_library(library, "OpenSSL", library, trouble);
    if (!handle) return;
      // libssl loads libcrypto, and a search in one finds what the other has.
#define HOLDFAST_OPENSSL_FIND(name)                     \
  functions.name = reinterpret_cast<decltype(&::name)>( \
      base::find_symbol(handle, library, #name, "install another", trouble));
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
