// Who holds the locks of a directory.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backend/file/transport.hpp"
#include "seam/backend.hpp"

namespace holdfast::file {

// The locks that are held now, by name, of those whose name starts with `prefix`. A holder is named
// by the record, which it writes a moment after it has the lock. Empty with `why` set when the
// directory cannot be read.
std::vector<holder> scan_holders(folder&, std::string_view prefix, std::chrono::microseconds wall,
                                 core::failure& why);

// The holders of one lock; none: it is free. Empty with `why` set when its file cannot be read.
std::vector<holder> find_holders(folder&, std::string_view lock_name,
                                 std::chrono::microseconds wall, core::failure& why);

}  // namespace holdfast::file
