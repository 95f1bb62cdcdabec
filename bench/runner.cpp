#include "runner.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "pinning.hpp"
#include "survey/machine.hpp"

namespace bench {
namespace {

struct pair_outcome {
  outcome limit, holdfast;
  double figure = 0;  // what the bar is about
};

double compare(measure how, double limit, double holdfast) {
  if (how == measure::ratio && !(limit > 0))
    throw std::runtime_error("the limit got nothing done: give it longer with --seconds");
  switch (how) {
    case measure::ratio: return holdfast / limit;
    case measure::difference: return holdfast - limit;
    case measure::alone: break;
  }
  return holdfast;
}

pair_outcome run_pair(const row& r, const contest& c, seconds length, bool limit_first) {
  pair_outcome p;
  if (c.limit && limit_first) p.limit = c.limit(length);
  p.holdfast = c.holdfast(length);
  if (c.limit && !limit_first) p.limit = c.limit(length);
  p.figure = compare(r.how, p.limit.figure, p.holdfast.figure);
  return p;
}

std::string side_text(const char* who, const outcome& o) {
  std::string text = std::string("  ") + who + ' ' + plain(o.figure);
  const char* separator = " (";
  for (const auto& [name, value] : o.beside) {
    text += separator + name + ' ' + plain(value);
    separator = ", ";
  }
  return o.beside.empty() ? text : text + ')';
}

void print_pair(const std::string& title, const contest& c, const pair_outcome& p) {
  std::string line = "  " + title;
  if (c.limit) line += side_text("limit", p.limit);
  line += side_text("holdfast", p.holdfast);
  if (c.limit) line += "  -> " + plain(p.figure);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::vector<std::pair<std::string, double>> medians_beside(const std::vector<pair_outcome>& pairs) {
  std::vector<std::pair<std::string, double>> medians = pairs.front().holdfast.beside;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<double> values;
    for (const pair_outcome& p : pairs) values.push_back(p.holdfast.beside.at(i).second);
    medians[i].second = spread_of(std::move(values)).median;
  }
  return medians;
}

peer_result run_peer(const peer& p, seconds length) try {
  return {p.name, p.run(length)};
} catch (const peer_missing& why) {
  return {p.name, 0, why.what()};
}

void print_peer(const peer_result& p, measure how, const contest_result& beside) {
  if (!p.skipped.empty()) {
    std::printf("  peer %s skipped: %s\n", p.name.c_str(), p.skipped.c_str());
  } else if (how == measure::ratio) {
    std::printf("  peer %s %s  -> %s of the limit, holdfast %s times it\n", p.name.c_str(),
                plain(p.figure).c_str(), plain(p.figure / beside.limit).c_str(),
                plain(beside.holdfast / p.figure).c_str());
  } else {
    std::printf("  peer %s %s\n", p.name.c_str(), plain(p.figure).c_str());
  }
  std::fflush(stdout);
}

contest_result run_contest(const row& r, const contest& c, seconds length, const settings& s) {
  if (!c.label.empty()) std::printf(" %s\n", c.label.c_str());
  if (!c.skipped.empty()) {
    std::printf(" skipped: %s\n", c.skipped.c_str());
    return {.label = c.label, .skipped = c.skipped};
  }
  print_pair("warm-up", c, run_pair(r, c, length, true));
  std::vector<pair_outcome> done;
  std::vector<double> figures, limits, ours;
  for (unsigned i = 0; i < s.pairs; ++i) {
    // The sides take turns at going first: the second one meets a warmer or a throttled machine.
    done.push_back(run_pair(r, c, length, i % 2 == 0));
    figures.push_back(done.back().figure);
    limits.push_back(done.back().limit.figure);
    ours.push_back(done.back().holdfast.figure);
    print_pair("pair " + std::to_string(i + 1), c, done.back());
  }
  contest_result result{.label = c.label,
                        .figure = spread_of(std::move(figures)),
                        .limit = spread_of(std::move(limits)).median,
                        .holdfast = spread_of(std::move(ours)).median,
                        .beside = medians_beside(done)};
  for (const peer& p : c.peers) {
    if (!s.with_peers) break;
    result.peers.push_back(run_peer(p, length));
    print_peer(result.peers.back(), r.how, result);
  }
  return result;
}

// The missed conditions in words; empty if none was missed.
std::string missed_beside(const bar& b, const contest_result& c) {
  std::string missed;
  for (const auto& [name, most] : b.at_most) {
    const auto at = std::find_if(c.beside.begin(), c.beside.end(),
                                 [&name = name](const auto& f) { return f.first == name; });
    if (at == c.beside.end()) throw std::runtime_error("the row has no figure \"" + name + '"');
    if (at->second <= most) continue;
    missed += (missed.empty() ? "" : "; ") + name + ' ' + plain(at->second) + " > " + plain(most);
    if (!c.label.empty()) missed += " (" + c.label + ')';
  }
  return missed;
}

void append(std::string& to, const std::string& more) {
  if (!more.empty()) to += (to.empty() ? "" : "; ") + more;
}

// The worst contest decides. Empty if the row meets its bar and all conditions.
std::string missed_by(const bar& b, const contest_result& worst,
                      const std::vector<contest_result>& all) {
  std::string missed;
  if (!meets(b.how, b.at, worst.figure.median))
    missed = plain(worst.figure.median) + ' ' + b.unit + (b.how == kind::rate ? " < " : " > ") +
             plain(b.at) + (worst.label.empty() ? "" : " (" + worst.label + ')');
  for (const contest_result& c : all)
    if (c.skipped.empty()) append(missed, missed_beside(b, c));
  return missed;
}

}  // namespace

row_result run_row(const row& r, const bar& b, const settings& s) {
  std::printf("%s: %s\n", b.name.c_str(), b.what.c_str());
  const seconds length = std::max(s.length, b.least);
  const int cpus = pin_to(b.cpus);
  const std::string counted(r.counted);
  std::printf(" %s; %u pairs of %s s a side; pinned to %d CPU%s%s\n", counted.c_str(), s.pairs,
              plain(length.count()).c_str(), cpus, cpus == 1 ? "" : "s",
              cpus < b.cpus ? " (the row wants more than there are)" : "");

  row_result result{.name = b.name, .verdict = "met", .side_seconds = length.count()};
  const auto before = survey::processor_times::of_process_group();
  for (const contest& c : r.prepare()) result.contests.push_back(run_contest(r, c, length, s));
  result.others_cpu = survey::processor_times::of_process_group().share_of_others(before);
  const contest_result* worst = nullptr;
  for (const contest_result& c : result.contests)
    if (c.skipped.empty() && (!worst || worse(b.how, c.figure.median, worst->figure.median)))
      worst = &c;
  if (!worst) throw row_skipped("nothing of the row can be run here");
  result.figure = worst->figure;
  result.reason = missed_by(b, *worst, result.contests);
  if (!result.reason.empty()) {
    result.verdict = "missed";
    std::printf("MISSED %s: %s\n", b.name.c_str(), result.reason.c_str());
  }
  std::printf("%s ratio=%s min=%s max=%s\n", b.name.c_str(), plain(result.figure.median).c_str(),
              plain(result.figure.min).c_str(), plain(result.figure.max).c_str());
  std::fflush(stdout);
  return result;
}

}  // namespace bench
