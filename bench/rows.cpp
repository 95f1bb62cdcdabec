#include "row.hpp"

namespace bench {
namespace {

constexpr row table[] = {
    {"memory/w1", measure::difference, "ns per cycle", memory_uncontended},
    {"memory/w3", measure::ratio, "acquisitions per second", memory_crowds},
    {"memory/renewal", measure::alone, "share of one core", memory_renewal},
    {"file/w1", measure::ratio, "cycles per second", file_uncontended},
    {"file/w4", measure::ratio, "hand-offs to another process per second", file_processes},
    {"run/spawn", measure::ratio, "microseconds per command", run_spawn},
};

}  // namespace

std::span<const row> rows() noexcept { return table; }

const row* find_row(std::string_view name) noexcept {
  for (const row& r : table)
    if (r.name == name) return &r;
  return nullptr;
}

}  // namespace bench
