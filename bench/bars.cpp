#include "bars.hpp"

#include <toml++/toml.h>

#include <stdexcept>

#include "data_folder.hpp"

namespace bench {
namespace {

[[noreturn]] void wrong(const std::string& row, const std::string& what) {
  throw std::runtime_error("bars.toml, row \"" + row + "\": " + what);
}

template <class T>
T need(const toml::table& from, const std::string& row, const char* key) {
  if (const auto value = from[key].value<T>()) return *value;
  wrong(row, std::string("\"") + key + "\" is missing or of the wrong type");
}

void refuse_unknown_keys(const toml::table& from, const std::string& row) {
  for (const auto& entry : from) {
    const std::string_view key = entry.first.str();
    bool known = false;
    for (const char* k : {"kind", "bar", "unit", "cpus", "seconds", "at_most", "what"})
      known = known || key == k;
    if (!known) wrong(row, "\"" + std::string(key) + "\" is no key of a bar");
  }
}

bar read_bar(const std::string& name, const toml::table& from) {
  refuse_unknown_keys(from, name);
  bar b;
  b.name = name;
  const auto how = need<std::string>(from, name, "kind");
  if (how != "rate" && how != "cost") wrong(name, "kind is \"rate\" or \"cost\"");
  b.how = how == "rate" ? kind::rate : kind::cost;
  b.at = need<double>(from, name, "bar");
  b.unit = need<std::string>(from, name, "unit");
  b.what = need<std::string>(from, name, "what");
  b.cpus = static_cast<int>(need<std::int64_t>(from, name, "cpus"));
  if (b.cpus < 1) wrong(name, "cpus is 1 or more");
  b.least = seconds(from["seconds"].value_or(0.0));
  if (const toml::table* conditions = from["at_most"].as_table()) {
    for (const auto& entry : *conditions) {
      const std::string figure(entry.first.str());
      b.at_most.emplace_back(figure, need<double>(*conditions, name, figure.c_str()));
    }
  }
  return b;
}

}  // namespace

std::string default_bars_file() { return (data_folder() / "bars.toml").string(); }

std::vector<bar> read_bars(const std::string& file) {
  std::vector<bar> bars;
  try {
    const toml::table all = toml::parse_file(file);
    for (const auto& [key, value] : all) {
      const std::string name(key.str());
      if (!built_here(name)) continue;
      if (!find_row(name)) wrong(name, "there is no such row");
      if (!value.is_table()) wrong(name, "a table of keys is expected");
      bars.push_back(read_bar(name, *value.as_table()));
    }
  } catch (const toml::parse_error& e) {
    throw std::runtime_error("cannot read the bars in " + file + ", line " +
                             std::to_string(e.source().begin.line) + ": " +
                             std::string(e.description()));
  }
  for (const row& r : rows())
    if (!find_bar(bars, r.name)) wrong(std::string(r.name), "has no bar");
  return bars;
}

const bar* find_bar(const std::vector<bar>& bars, std::string_view name) noexcept {
  for (const bar& b : bars)
    if (b.name == name) return &b;
  return nullptr;
}

}  // namespace bench
