// Makes the command under test accept memory:, whose faults are options of its URL.
#include "cli/place.hpp"

namespace holdfast::cli {

void refuse_memory(const place&) {}

}  // namespace holdfast::cli
