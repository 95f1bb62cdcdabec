#include "survey/costs.hpp"

#include <algorithm>

#include "survey/columns.hpp"

namespace survey {
namespace {

// "6.00 (5.03)": of one worker, and of many.
std::string both(const cell& free, const cell* separate, double (*of)(const cell&)) {
  return figure(of(free)) + (separate ? " (" + figure(of(*separate)) + ")" : "");
}

std::string memory_text(const cell* held, double measurement::*which) {
  if (!held) return "-";
  const double bytes = median(each(*held, [which](const measurement& m) { return m.*which; }));
  return bytes > 0 ? figure(bytes) : "-";
}

}  // namespace

table cost_table(const results& r) {
  table rows{{"store", "lock", "commands", "bytes", "client CPU us", "server CPU us",
              "client bytes held", "server bytes held"}};
  const bool has_bytes =
      std::ranges::any_of(r.cells, [](const cell& c) { return bytes_per_acquisition(c) > 0; });
  for (const cell& c : r.cells) {
    if (!has_bytes) break;  // a run of an earlier version
    if (c.load != "free" || !c.refused.empty()) continue;
    const cell* separate = find_measured(r, c.topology, c.lock, "separate-64");
    const cell* held = find_measured(r, c.topology, c.lock, "held");
    rows.push_back({c.topology, c.lock, both(c, separate, commands_per_acquisition),
                    both(c, separate, bytes_per_acquisition),
                    both(c, separate, client_us_per_acquisition),
                    both(c, separate, server_us_per_acquisition),
                    memory_text(held, &measurement::client_memory),
                    memory_text(held, &measurement::server_memory)});
  }
  return rows;
}

}  // namespace survey
