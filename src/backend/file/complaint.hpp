// What the file system said, as a sentence with a remedy.
#pragma once
#include <string>
#include <string_view>

#include "core/seam.hpp"

namespace holdfast::file {

// `doing` is what failed ("open", "create"), `path` what it was done to, `error` the errno.
core::failure complaint(std::string_view doing, const std::string& path, int error);

}  // namespace holdfast::file
