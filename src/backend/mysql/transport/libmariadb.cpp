#include "backend/mysql/transport/libmariadb.hpp"

#include <dlfcn.h>

#include <string>

#include "base/shared_library.hpp"

namespace holdfast::mysql {
namespace {

constexpr const char* library_file = "libmariadb.so.3";
constexpr const char* remedy = "install libmariadb3 3.3 or later";

// Never unloaded: other users of the library in this process may have pointers into it.
struct loaded_library {
  libmariadb_functions functions;
  std::string trouble;

  loaded_library() {
    void* const handle = base::load_library(library_file, "libmariadb",
                                            "libmariadb.so.3 (Debian: libmariadb3)", trouble);
    if (!handle) return;
#define HOLDFAST_SQL_LIBRARY_FIND(name)                 \
  functions.name = reinterpret_cast<decltype(&::name)>( \
      base::find_symbol(handle, library_file, #name, remedy, trouble));
    HOLDFAST_SQL_LIBRARY_FUNCTIONS(HOLDFAST_SQL_LIBRARY_FIND)
#undef HOLDFAST_SQL_LIBRARY_FIND
    // Of the OpenSSL that it is linked to; another TLS library has no such function.
    if (void* const clear = ::dlsym(handle, "ERR_clear_error"))
      functions.clear_tls_errors = reinterpret_cast<void (*)()>(clear);
    if (trouble.empty() && functions.mysql_server_init(0, nullptr, nullptr) != 0)
      trouble = "libmariadb cannot be initialised";
  }
};

}  // namespace

const libmariadb_functions* libmariadb(const char** why) noexcept {
  static const loaded_library all;
  if (why) *why = all.trouble.c_str();
  return all.trouble.empty() ? &all.functions : nullptr;
}

}  // namespace holdfast::mysql
