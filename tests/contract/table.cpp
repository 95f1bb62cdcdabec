#include <algorithm>
#include <iterator>

#include "behaviour.hpp"

namespace contract {

const behaviours& all_behaviours() {
  static const behaviours all = [] {
    behaviours table;
    for (const auto group :
         {granting,         waiting,    leaving,      tokens,   ownership,      reentry,
          standard_library, losses,     time_passing, outages,  closing,        names,
          inspecting,       errors,     crashes,      sharing,  shared_mutexes, permits,
          limits,           contenders, several,      elections})
      std::ranges::copy(group(), std::back_inserter(table));
    std::ranges::stable_sort(table, {}, &behaviour::number);
    return table;
  }();
  return all;
}

std::string not_applicable(const behaviour& b, const subject_under_test& on) {
  if (!b.modes.has_any_of(on.modes)) return "it has none of these kinds of locks";
  switch (b.what) {
    case needs::nothing: return "";
    case needs::ttl:
      if (!on.has_deadlines()) return "its leases do not run out: the process holds them";
      return on.has_ttl() ? "" : "its leases have no ttl: they end with the session or connection";
    case needs::deadline:
      return on.has_deadlines() ? "" : "its leases do not run out: the process holds them";
    case needs::breaking:
      return on.can.breakable ? "" : "a lock cannot be taken from a living process";
    case needs::outages:
      return on.has_outages ? "" : "there is no server between the process and its locks";
    case needs::preference: return on.prefers_writers ? "" : "its readers pass a writer that waits";
    case needs::time: return on.has_time ? "" : "it takes long, and other subjects show it";
    case needs::durability:
      return on.can.durable ? "" : "nothing is kept once its last client is gone";
  }
  return "";
}

const expected_failure* failure_expected_of(const behaviour& b, mode as,
                                            const subject_under_test& on) {
  for (const expected_failure& e : on.expected_failures)
    if (e.behaviour == b.name && e.modes.has(as)) return &e;
  return nullptr;
}

std::vector<place> places(const behaviour& b, const subject_under_test& on) {
  if (b.how == played::in_threads || !on.can.processes) return {place::threads};
  if (b.how == played::in_processes) return {place::processes};
  return {place::threads, place::processes};
}

std::string_view word_of(mode as) {
  constexpr std::array<std::string_view, 5> words = {"exclusive", "writer", "shared", "permit",
                                                     "recursive"};
  return words.at(static_cast<std::size_t>(as));
}

std::string case_name(const behaviour& b) {
  const auto number = std::to_string(b.number);
  return "b" + std::string(number.size() < 2 ? "0" : "") + number + "_" + std::string(b.name);
}

}  // namespace contract
