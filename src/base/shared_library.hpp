// Shared libraries that are loaded when they are first needed.
#pragma once
#include <string>

namespace holdfast::base {

// Null if the library `file` cannot be loaded; then `why` gets the reason and the remedy. `product`
// and `package` are for that text. The library is never unloaded.
void* load_library(const char* file, const char* product, const char* package, std::string& why);

// The address of `name` in it. Null if it has none: then `why` says so, with the `remedy`.
void* find_symbol(void* library, const char* file, const char* name, const char* remedy,
                  std::string& why);

}  // namespace holdfast::base
