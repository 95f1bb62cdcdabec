#include "survey/columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace survey {
namespace {

std::string with_separators(long long value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string quantiles(const latencies& times) {
  if (times.count() == 0) return "-";
  return figure(times.quantile_us(0.5)) + " / " + figure(times.quantile_us(0.99)) + " / " +
         figure(times.quantile_us(0.999));
}

std::string success(const cell& c) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * success_rate(c));
  return text;
}

std::string rate(const cell& c) { return figure(median(each(c, acquired_per_second))); }

std::string range(const cell& c) {
  const auto rates = each(c, acquired_per_second);
  const auto [least, most] = std::ranges::minmax_element(rates);
  return rates.empty() ? "-" : figure(*least) + " - " + figure(*most);
}

std::string samples(const cell& c) {
  return with_separators(
      static_cast<long long>(total(c, [](const measurement& m) { return m.attempts; })));
}

std::string shares(const cell& c) {
  return figure(median(each(c, [](const measurement& m) { return m.most_to_fewest; })));
}

std::string jain(const cell& c) {
  return figure(median(each(c, [](const measurement& m) { return m.jain; })));
}

std::string result(const cell& c) {
  std::string text = verdict(c);
  const auto errors = total(c, [](const measurement& m) { return m.errors; });
  if (text == "ok" && errors > 0) text += ", " + std::to_string(errors) + " errors";
  if (c.is_unsafe) text += " (unsafe)";
  return text;
}

constexpr column all_columns[] = {
    {"store", true, [](const cell& c) { return c.topology; }},
    {"lock", true, [](const cell& c) { return c.lock; }},
    {"success", true, success},
    {"per second", true, rate},
    {"range", false, range},
    {"samples", true, samples},
    {"acquire us p50 / p99 / p99.9", true,
     [](const cell& c) { return quantiles(all_of(c, &measurement::acquire)); }},
    {"hand-off us", false, [](const cell& c) { return quantiles(handoffs_of(c)); }},
    {"cycle us", false, [](const cell& c) { return quantiles(all_of(c, &measurement::cycle)); }},
    {"max/min", true, shares},
    {"Jain", false, jain},
    {"client CPU us", false, [](const cell& c) { return figure(client_us_per_acquisition(c)); }},
    {"server CPU us", false, [](const cell& c) { return figure(server_us_per_acquisition(c)); }},
    {"commands", true, [](const cell& c) { return figure(commands_per_acquisition(c)); }},
    {"result", true, result},
};

}  // namespace

std::span<const column> columns() noexcept { return all_columns; }

std::string figure(double value) {
  if (value >= 100) return with_separators(std::llround(value));
  char text[32];
  std::snprintf(text, sizeof text, value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.3f", value);
  return text;
}

const cell* find_measured(const results& r, std::string_view topology, std::string_view lock,
                          std::string_view load) {
  const auto at = std::ranges::find_if(r.cells, [&](const cell& c) {
    return c.topology == topology && c.lock == lock && c.load == load;
  });
  return at == r.cells.end() || at->runs.empty() ? nullptr : &*at;
}

std::vector<const load*> loads_in(const results& r) {
  std::vector<const load*> some;
  for (const load& l : loads())
    if (std::ranges::any_of(r.cells, [&l](const cell& c) { return c.load == l.name; }))
      some.push_back(&l);
  return some;
}

std::string summary_of(const results& r) {
  std::string text = r.where.processor + ", " + std::to_string(r.where.processors) +
                     " processors, " + r.where.system + ", kernel " + r.where.kernel + "\n";
  for (const auto& [name, version] : r.versions) text += name + " " + version + "\n";
  if (r.url.empty()) text += "All servers and workers share these processors.\n";
  std::size_t disturbed = 0;
  for (const cell& c : r.cells)
    disturbed += std::ranges::any_of(c.runs, [](const measurement& m) {
      return m.others_cpu >= disturbed_from;
    });
  if (disturbed > 0)
    text += "Other programs used more than 15 % of the machine during " +
            std::to_string(disturbed) + " of " + std::to_string(r.cells.size()) + " cells.\n";
  if (r.is_quick) text += "A quick run: too short for a comparison of close figures.\n";
  if (!r.is_complete) text += "The run was interrupted; the same command continues it.\n";
  return text;
}

}  // namespace survey
