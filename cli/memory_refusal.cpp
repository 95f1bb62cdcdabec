// The tests of the command link another definition, with which the command accepts a store of its
// own process: its faults are options of the URL.

#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {

void refuse_memory(const place& at) {
  if (!at.parsed || at.parsed->scheme() != "memory") return;
  throw usage_error("memory: (" + at.said_by +
                    ") is a store of one process, and its locks exclude no other process; use "
                    "file: or the URL of a server");
}

}  // namespace holdfast::cli
