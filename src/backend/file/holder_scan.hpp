// Finds the holders of the locks in a directory.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backend/file/lock_file.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::file {

// The holders of locks whose name starts with `prefix`, sorted by name. A holder is described by
// its record, which it writes a moment after it has the lock. Empty with `why` set when the
// directory cannot be read.
std::vector<holder> scan_holders(folder&, std::string_view prefix, std::chrono::microseconds wall,
                                 base::failure& why);

// The holders of one lock; none: it is free. Empty with `why` set when its file cannot be read.
std::vector<holder> find_holders(folder&, std::string_view lock_name,
                                 std::chrono::microseconds wall, base::failure& why);

}  // namespace holdfast::file
