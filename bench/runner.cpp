#include "runner.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include "pinning.hpp"

namespace bench {
namespace {

struct pair_outcome {
  outcome limit, holdfast;
  double figure = 0;  // what the bar is about
};

struct contest_outcome {
  std::string label;
  spread figure;
  std::vector<std::pair<std::string, double>> beside;  // medians of holdfast's side
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

void print_peers(const contest& c, measure how, seconds length, double holdfast, double limit) {
  for (const peer& p : c.peers) {
    try {
      const double figure = p.run(length);
      std::printf("  peer %s %s", p.name.c_str(), plain(figure).c_str());
      if (how == measure::ratio)
        std::printf("  -> %s of the limit, holdfast %s times it", plain(figure / limit).c_str(),
                    plain(holdfast / figure).c_str());
      std::printf("\n");
    } catch (const peer_missing& why) {
      std::printf("  peer %s skipped: %s\n", p.name.c_str(), why.what());
    }
    std::fflush(stdout);
  }
}

contest_outcome run_contest(const row& r, const contest& c, seconds length, unsigned pairs) {
  if (!c.label.empty()) std::printf(" %s\n", c.label.c_str());
  print_pair("warm-up", c, run_pair(r, c, length, true));
  std::vector<pair_outcome> done;
  std::vector<double> figures, limits, ours;
  for (unsigned i = 0; i < pairs; ++i) {
    // The sides take turns at going first: the second one meets a warmer or a throttled machine.
    done.push_back(run_pair(r, c, length, i % 2 == 0));
    figures.push_back(done.back().figure);
    limits.push_back(done.back().limit.figure);
    ours.push_back(done.back().holdfast.figure);
    print_pair("pair " + std::to_string(i + 1), c, done.back());
  }
  print_peers(c, r.how, length, spread_of(std::move(ours)).median,
              spread_of(std::move(limits)).median);
  return {c.label, spread_of(std::move(figures)), medians_beside(done)};
}

// The missed conditions in words; empty if none was missed.
std::string missed_beside(const bar& b, const contest_outcome& c) {
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

}  // namespace

bool run_row(const row& r, const bar& b, const settings& s) {
  std::printf("%s: %s\n", b.name.c_str(), b.what.c_str());
  const seconds length = std::max(s.length, b.least);
  const int cpus = pin_to(b.cpus);
  const std::string counted(r.counted);
  std::printf(" %s; %u pairs of %s s a side; pinned to %d CPU%s%s\n", counted.c_str(), s.pairs,
              plain(length.count()).c_str(), cpus, cpus == 1 ? "" : "s",
              cpus < b.cpus ? " (the row wants more than there are)" : "");

  std::optional<contest_outcome> worst;
  std::string missed;
  for (const contest& c : r.prepare()) {
    if (!c.skipped.empty()) {
      std::printf(" %s skipped: %s\n", c.label.c_str(), c.skipped.c_str());
      continue;
    }
    contest_outcome o = run_contest(r, c, length, s.pairs);
    const std::string beside = missed_beside(b, o);
    if (!beside.empty()) missed += (missed.empty() ? "" : "; ") + beside;
    if (!worst || worse(b.how, o.figure.median, worst->figure.median)) worst = std::move(o);
  }
  if (!worst) throw row_skipped("nothing of the row can be run here");
  if (!meets(b.how, b.at, worst->figure.median)) {
    const std::string bar_missed = plain(worst->figure.median) + ' ' + b.unit +
                                   (b.how == kind::rate ? " < " : " > ") + plain(b.at) +
                                   (worst->label.empty() ? "" : " (" + worst->label + ')');
    missed = missed.empty() ? bar_missed : bar_missed + "; " + missed;
  }
  if (!missed.empty()) std::printf("MISSED %s: %s\n", b.name.c_str(), missed.c_str());
  std::printf("%s ratio=%s min=%s max=%s\n", b.name.c_str(), plain(worst->figure.median).c_str(),
              plain(worst->figure.min).c_str(), plain(worst->figure.max).c_str());
  std::fflush(stdout);
  return missed.empty();
}

}  // namespace bench
