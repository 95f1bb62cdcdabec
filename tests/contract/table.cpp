#include <algorithm>
#include <iterator>

#include "behaviour.hpp"

namespace contract {

const behaviours& all_behaviours() {
  static const behaviours all = [] {
    behaviours table;
    for (const auto group :
         {granting, waiting,      leaving,        tokens,  ownership, reentry,    standard_library,
          losses,   time_passing, outages,        closing, names,     inspecting, errors,
          crashes,  sharing,      shared_mutexes, permits, limits,    crowds,     several})
      std::ranges::copy(group(), std::back_inserter(table));
    std::ranges::stable_sort(table, {}, &behaviour::number);
    return table;
  }();
  return all;
}

std::string not_applicable(const behaviour& b, const backend_under_test& backend) {
  switch (b.what) {
    case needs::nothing: return "";
    case needs::ttl:
      return backend.can.ttl ? "" : "its leases do not run out: the process holds them";
    case needs::breaking:
      return backend.can.breakable ? "" : "a lock cannot be taken from a living process";
    case needs::outages:
      return backend.has_outages ? "" : "there is no server between the process and its locks";
    case needs::time: return backend.has_time ? "" : "it takes long, and is shown by file:";
    case needs::durability:
      return backend.can.durable ? "" : "nothing is kept once its last client is gone";
  }
  return "";
}

std::vector<place> places(const behaviour& b, const backend_under_test& backend) {
  if (b.how == played::in_threads || !backend.can.processes) return {place::threads};
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
