// Runs one row in pairs of limit and holdfast and says what came of it.
#pragma once
#include <chrono>

#include "bars.hpp"
#include "row.hpp"
#include "row_result.hpp"

namespace bench {

struct settings {
  unsigned pairs = 7;   // five or more
  seconds length{0.5};  // of each side of a pair
  bool with_peers = false;
};

// Prints every pair, what was missed, and as the last line "NAME ratio=M min=A max=B". Throws what
// a side throws, and row_skipped.
row_result run_row(const row&, const bar&, const settings&);

}  // namespace bench
