#include "survey/result_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "survey/claims.hpp"
#include "survey/documents.hpp"
#include "survey/load.hpp"
#include "survey/model.hpp"
#include "survey/subject.hpp"

namespace survey {
namespace {

using json = nlohmann::ordered_json;

constexpr int schema = 1;
constexpr double curve_fractions[] = {0.01, 0.05, 0.1, 0.2,  0.3,  0.4,  0.5,   0.6,
                                      0.7,  0.8,  0.9, 0.95, 0.98, 0.99, 0.995, 0.999};

json buckets_of(const latencies& times) {
  json all = json::array();
  for (const auto& [bucket, count] : times.buckets()) all.push_back({bucket, count});
  return all;
}

latencies latencies_from(const json& buckets) {
  latencies times;
  for (const json& b : buckets) times.add_bucket(b.at(0), b.at(1));
  return times;
}

json timeline_of(const measurement& m) {
  json all = json::array();
  for (const tenure& t : m.timeline) all.push_back({t.worker, t.from_us, t.to_us});
  return all;
}

std::vector<tenure> timeline_from(const json& all) {
  std::vector<tenure> out;
  for (const json& t : all) out.push_back({t.at(0), t.at(1), t.at(2)});
  return out;
}

json summary_of(const latencies& times) {
  json curve = json::array();
  for (const double fraction : curve_fractions)
    if (times.count() > 0) curve.push_back({fraction, times.quantile_us(fraction)});
  return {{"samples", times.count()},
          {"p50_us", times.quantile_us(0.5)},
          {"p99_us", times.quantile_us(0.99)},
          {"p999_us", times.quantile_us(0.999)},
          {"curve", curve}};
}

json run_of(const measurement& m) {
  return {{"seconds", m.seconds},
          {"attempts", m.attempts},
          {"acquired", m.acquired},
          {"errors", m.errors},
          {"overlaps", m.overlaps},
          {"first_error", m.first_error},
          {"most_to_fewest", m.most_to_fewest},
          {"jain", m.jain},
          {"client_cpu_s", m.client_cpu},
          {"server_cpu_s", m.server_cpu},
          {"others_cpu", m.others_cpu},
          {"server_commands", m.server_commands},
          {"bytes", m.bytes},
          {"client_memory", m.client_memory},
          {"server_memory", m.server_memory},
          {"acquire", buckets_of(m.acquire)},
          {"held", buckets_of(m.held)},
          {"handoff", buckets_of(m.handoff)},
          {"cycle", buckets_of(m.cycle)},
          {"timeline", timeline_of(m)}};
}

measurement run_from(const json& j) {
  measurement m;
  m.seconds = j.at("seconds");
  m.attempts = j.at("attempts");
  m.acquired = j.at("acquired");
  m.errors = j.at("errors");
  m.overlaps = j.at("overlaps");
  m.first_error = j.at("first_error");
  m.most_to_fewest = j.at("most_to_fewest");
  m.jain = j.at("jain");
  m.client_cpu = j.at("client_cpu_s");
  m.server_cpu = j.at("server_cpu_s");
  m.others_cpu = j.at("others_cpu");
  m.server_commands = j.at("server_commands");
  m.bytes = j.value("bytes", 0.0);  // a file of an earlier version lacks these
  m.client_memory = j.value("client_memory", 0.0);
  m.server_memory = j.value("server_memory", 0.0);
  m.held = latencies_from(j.value("held", json::array()));
  m.timeline = timeline_from(j.value("timeline", json::array()));
  m.acquire = latencies_from(j.at("acquire"));
  m.handoff = latencies_from(j.at("handoff"));
  m.cycle = latencies_from(j.at("cycle"));
  return m;
}

json figures_of(const cell& c) {
  const auto rates = each(c, acquired_per_second);
  return {{"success_rate", success_rate(c)},
          {"per_second",
           {{"median", median(rates)},
            {"min", *std::ranges::min_element(rates)},
            {"max", *std::ranges::max_element(rates)}}},
          {"samples", total(c, [](const measurement& m) { return m.attempts; })},
          {"acquire", summary_of(all_of(c, &measurement::acquire))},
          {"handoff", summary_of(handoffs_of(c))},
          {"cycle", summary_of(all_of(c, &measurement::cycle))},
          {"timeline", timeline_of(c.runs.front())},
          {"most_to_fewest",
           median(each(c, [](const measurement& m) { return m.most_to_fewest; }))},
          {"jain", median(each(c, [](const measurement& m) { return m.jain; }))},
          {"client_us", client_us_per_acquisition(c)},
          {"server_us", server_us_per_acquisition(c)},
          {"commands", commands_per_acquisition(c)},
          {"bytes", bytes_per_acquisition(c)},
          {"client_memory", median(each(c, [](const measurement& m) { return m.client_memory; }))},
          {"server_memory", median(each(c, [](const measurement& m) { return m.server_memory; }))},
          {"others_cpu", median(each(c, [](const measurement& m) { return m.others_cpu; }))}};
}

json cell_json(const cell& c, detail how) {
  json j{{"topology", c.topology}, {"lock", c.lock},       {"load", c.load},
         {"unsafe", c.is_unsafe},  {"refused", c.refused}, {"verdict", verdict(c)},
         {"repeated", c.repeated}};
  if (how == detail::every_run) {
    j["runs"] = json::array();
    for (const measurement& m : c.runs) j["runs"].push_back(run_of(m));
  }
  if (c.refused.empty() && !c.runs.empty()) j["figures"] = figures_of(c);
  return j;
}

cell cell_from(const json& j) {
  cell c{.topology = j.at("topology"), .lock = j.at("lock"), .load = j.at("load")};
  c.is_unsafe = j.at("unsafe");
  c.refused = j.at("refused");
  c.repeated = j.at("repeated");
  for (const json& run : j.at("runs")) c.runs.push_back(run_from(run));
  return c;
}

json row_texts() {
  json topologies_of = json::object(), locks = json::object(), loads_of = json::object();
  for (const topology& t : topologies()) topologies_of[std::string(t.name)] = t.what;
  for (const lock_row& r : lock_rows()) locks[std::string(r.name)] = r.what;
  for (const load& l : loads()) loads_of[std::string(l.name)] = l.what;
  return {{"topologies", topologies_of}, {"locks", locks}, {"loads", loads_of}};
}

}  // namespace

std::string to_json(const results& r, detail how) {
  json j{{"schema", schema},
         {"quick", r.is_quick},
         {"complete", r.is_complete},
         {"peers", r.with_peers},
         {"url", r.url},
         {"only", r.only},
         {"machine",
          {{"processor", r.where.processor},
           {"processors", r.where.processors},
           {"kernel", r.where.kernel},
           {"system", r.where.system}}},
         {"versions", json::object()},
         {"texts", row_texts()},
         {"cells", json::array()}};
  for (const auto& [name, version] : r.versions) j["versions"][name] = version;
  for (const cell& c : r.cells) j["cells"].push_back(cell_json(c, how));
  j["documents"] = documents_table(r);
  j["claims"] = json::array();
  for (const checked_claim& c : check_claims(r))
    j["claims"].push_back({{"text", c.text},
                           {"theirs", c.theirs},
                           {"measured", c.measured},
                           {"how", c.how},
                           {"result", c.result}});
  j["model"] = json::array();
  for (const model_check& c : check_model(r))
    j["model"].push_back({{"topology", c.where->topology},
                          {"lock", c.where->lock},
                          {"load", c.where->load},
                          {"utilisation", c.utilisation},
                          {"what", c.what},
                          {"model", c.model},
                          {"measured", c.measured}});
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

results from_json(const std::string& text) try {
  const json j = json::parse(text);
  if (j.at("schema") != schema) throw std::runtime_error("another schema");
  results r{.is_quick = j.at("quick"),
            .is_complete = j.at("complete"),
            .with_peers = j.value("peers", false),
            .url = j.at("url"),
            .only = j.at("only")};
  const json& m = j.at("machine");
  r.where.processor = m.at("processor");
  r.where.processors = m.at("processors");
  r.where.kernel = m.at("kernel");
  r.where.system = m.at("system");
  for (const auto& [name, version] : j.at("versions").items())
    r.versions.emplace_back(name, version);
  for (const json& c : j.at("cells")) r.cells.push_back(cell_from(c));
  return r;
} catch (const json::exception& e) {
  throw std::runtime_error(std::string("no result of a survey: ") + e.what());
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
}

void replace_file(const std::string& path, const std::string& text) {
  write_file(path + ".new", text);
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0)
    throw std::runtime_error(path + " cannot be replaced: " + std::strerror(errno));
}

void save(const results& r, const std::string& file) {
  replace_file(file, to_json(r, detail::every_run));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace survey
