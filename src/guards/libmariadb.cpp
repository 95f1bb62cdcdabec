#ifdef HOLDFAST_WITH_MYSQL
#include "guards/libmariadb.hpp"

#include <dlfcn.h>

#include <cstring>

namespace holdfast::guards {
namespace {

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  void* const found = ::dlsym(library, name);
  static_assert(sizeof found == sizeof function);
  std::memcpy(&function, &found, sizeof found);
  return found != nullptr;
}

struct loaded_library {
  libmariadb_functions functions;
  const char* why = "libmariadb.so.3 cannot be loaded; install libmariadb3";

  loaded_library() noexcept {
    void* const library = ::dlopen("libmariadb.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    bool is_complete = true;
#define HOLDFAST_MARIADB_FIND(name) \
  is_complete = find_function(library, #name, functions.name) && is_complete;
    HOLDFAST_MARIADB_CALLS(HOLDFAST_MARIADB_FIND)
#undef HOLDFAST_MARIADB_FIND
    if (!is_complete) {
      why = "this libmariadb.so.3 lacks functions; install libmariadb3 3.3 or later";
      return;
    }
    functions.mysql_server_init(0, nullptr, nullptr);  // once, before any thread connects
    why = nullptr;
  }
};

}  // namespace

const libmariadb_functions* libmariadb(const char** why) noexcept {
  static const loaded_library library;
  if (why) *why = library.why;
  return library.why ? nullptr : &library.functions;
}

}  // namespace holdfast::guards
#endif
