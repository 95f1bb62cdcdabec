#include "ratio_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "survey/machine.hpp"
#include "survey/result_file.hpp"
#include "survey/versions.hpp"

namespace bench {
namespace {

using json = nlohmann::ordered_json;

constexpr int ratio_schema = 1;

// The facts that all rows of one run share.
json heading_of(const settings& s) {
  const auto where = survey::machine::here();
  json versions = json::object();
  for (const auto& [name, version] : survey::versions_here()) versions[name] = version;
  return {{"schema", ratio_schema},
          {"machine",
           {{"processor", where.processor},
            {"processors", where.processors},
            {"kernel", where.kernel},
            {"system", where.system}}},
          {"versions", versions},
          {"pairs", s.pairs},
          {"seconds", s.length.count()},
          {"peers", s.with_peers}};
}

json new_run(const settings& s) {
  json run = heading_of(s);
  run["complete"] = false;
  run["rows"] = json::array();
  return run;
}

json spread_json(const spread& s) { return {{"median", s.median}, {"min", s.min}, {"max", s.max}}; }

json contest_json(const contest_result& c) {
  if (!c.skipped.empty()) return {{"label", c.label}, {"skipped", c.skipped}};
  json beside = json::object(), peers = json::array();
  for (const auto& [name, value] : c.beside) beside[name] = value;
  for (const peer_result& p : c.peers) {
    json one{{"name", p.name}};
    if (p.skipped.empty())
      one["figure"] = p.figure;
    else
      one["skipped"] = p.skipped;
    peers.push_back(one);
  }
  return {{"label", c.label}, {"figure", spread_json(c.figure)},
          {"limit", c.limit}, {"holdfast", c.holdfast},
          {"beside", beside}, {"peers", peers}};
}

json row_json(const bar& b, const row_result& r) {
  json j{{"name", r.name},       {"kind", b.how == kind::rate ? "rate" : "cost"},
         {"bar", b.at},          {"unit", b.unit},
         {"cpus", b.cpus},       {"counted", find_row(b.name)->counted},
         {"what", b.what},       {"at_most", json::object()},
         {"verdict", r.verdict}, {"reason", r.reason}};
  for (const auto& [figure, most] : b.at_most) j["at_most"][figure] = most;
  if (r.verdict != "met" && r.verdict != "missed") return j;
  j["figure"] = spread_json(r.figure);
  j["seconds"] = r.side_seconds;
  j["others_cpu"] = r.others_cpu;
  j["contests"] = json::array();
  for (const contest_result& c : r.contests) j["contests"].push_back(contest_json(c));
  return j;
}

json parsed(const std::string& text, const std::string& path) try {
  json run = json::parse(text);
  if (run.at("schema") != ratio_schema || !run.at("rows").is_array())
    throw std::runtime_error(path + " has another schema: remove it, or choose another file");
  return run;
} catch (const json::exception&) {
  throw std::runtime_error(path + " is not the result of a run of the rows: remove it, or choose "
                                  "another file");
}

void refuse_another_run(const json& run, const settings& s, const std::string& path) {
  const json heading = heading_of(s);
  for (const auto& [member, value] : heading.items()) {
    if (run.contains(member) && run.at(member) == value) continue;
    throw std::runtime_error(std::string(path)
                                 .append(" has a run with another value of \"")
                                 .append(member)
                                 .append("\": remove it, or choose another file"));
  }
}

}  // namespace

ratio_file ratio_file::continued(const std::string& path, const settings& s) {
  const std::string text = survey::read_file(path);
  if (!text.empty() && !parsed(text, path).value("complete", false)) return opened(path, s);
  ratio_file begun(path, new_run(s).dump(1) + "\n");
  survey::replace_file(path, begun.text_);
  return begun;
}

ratio_file ratio_file::opened(const std::string& path, const settings& s) {
  const std::string text = survey::read_file(path);
  if (text.empty()) return {path, new_run(s).dump()};
  refuse_another_run(parsed(text, path), s, path);
  return {path, text};
}

std::optional<row_result> ratio_file::result_of(const std::string& row) const {
  const json run = json::parse(text_);
  for (const json& r : run.at("rows")) {
    if (r.at("name") != row) continue;
    row_result result{.name = row, .verdict = r.at("verdict"), .reason = r.at("reason")};
    if (r.contains("figure")) {
      const json& f = r.at("figure");
      result.figure = {f.at("median"), f.at("min"), f.at("max")};
    }
    return result;
  }
  return std::nullopt;
}

void ratio_file::add(const bar& b, const row_result& r) {
  json run = json::parse(text_);
  json& rows = run["rows"];
  const auto at = std::ranges::find_if(rows, [&](const json& o) { return o.at("name") == r.name; });
  if (at != rows.end())
    *at = row_json(b, r);
  else
    rows.push_back(row_json(b, r));
  replace(run.dump(1) + "\n");
}

void ratio_file::finish() {
  json run = json::parse(text_);
  run["complete"] = true;
  replace(run.dump(1) + "\n");
}

void ratio_file::replace(std::string text) {
  text_ = std::move(text);
  survey::replace_file(path_, text_);
}

}  // namespace bench
