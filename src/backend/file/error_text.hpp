// Failures of the file backend as sentences with a remedy.
#pragma once
#include <string>
#include <string_view>

#include "backend/file/recipe.hpp"
#include "base/failure.hpp"

namespace holdfast::file {

// A failed system call: `doing` is what failed ("open", "create"), `path` its object, `error` the
// errno.
base::failure error_text(std::string_view doing, const std::string& path, int error);

// The kind in which the lock is held, and the kind that was requested.
base::failure another_kind(const kind& held, const kind& asked);

// Why a lock was not granted; `trouble` is the answer for reason::failed and another_kind.
base::failure refusal(reason, const std::string& lock_file, const base::failure& trouble);

}  // namespace holdfast::file
