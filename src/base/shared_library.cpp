#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <span>

namespace holdfast::base {
namespace {

// A program that is linked statically names no interpreter, and glibc's dlopen() crashes in it when
// the library has thread-local variables.
int names_interpreter(dl_phdr_info* program, std::size_t, void* to) {
  *static_cast<bool*>(to) =
      std::ranges::any_of(std::span(program->dlpi_phdr, program->dlpi_phnum),
                          [](const auto& header) { return header.p_type == PT_INTERP; });
  return 1;  // the program itself comes first
}

bool is_static_program() noexcept {
  bool has_interpreter = false;
  ::dl_iterate_phdr(names_interpreter, &has_interpreter);
  return !has_interpreter;
}

}  // namespace

void* load_library(const char* file, const char* product, const char* package, std::string& why) {
  why = std::string(product) + " cannot be loaded ";
  if (is_static_program()) {
    why += "into a program that is linked statically; use one that is linked to shared libraries";
    return nullptr;
  }
  void* const out = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps one text for each thread
  const std::string reason = out ? "" : ::dlerror();
  why = out ? std::string() : why + '(' + reason + "); install the package that has " + package;
  return out;
}

void* find_symbol(void* library, const char* file, const char* name, const char* remedy,
                  std::string& why) {
  void* const out = ::dlsym(library, name);
  if (!out) why = std::string(file) + " has no " + name + "; " + remedy;
  return out;
}

}  // namespace holdfast::base
