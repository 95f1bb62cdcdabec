// What is wrong, as a sentence with a remedy.
#pragma once
#include <string>
#include <string_view>

#include "backend/file/recipe.hpp"
#include "base/failure.hpp"

namespace holdfast::file {

// What the file system said: `doing` is what failed ("open", "create"), `path` what it was done to,
// `error` the errno.
core::failure error_text(std::string_view doing, const std::string& path, int error);

// What it is to those that hold it, and what it was asked for as.
core::failure another_kind(const kind& held, const kind& asked);

// Why a lock was not granted; `trouble` is told for reason::failed and another_kind.
core::failure refusal(reason, const std::string& lock_file, const core::failure& trouble);

}  // namespace holdfast::file
