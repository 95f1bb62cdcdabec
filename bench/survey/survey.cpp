#include "survey/survey.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "survey/measure.hpp"
#include "survey/progress.hpp"
#include "survey/result_file.hpp"
#include "survey/versions.hpp"

namespace survey {
namespace {

class users_own final : public deployment {
 public:
  explicit users_own(std::string url) : url_(std::move(url)) {}
  std::string url() const override { return url_; }

 private:
  const std::string url_;
};

struct planned_run {
  const lock_row& row;
  const load& under;
};

bool matches(std::string_view pattern, std::string_view topology, std::string_view lock,
             std::string_view load) {
  for (const std::string_view part : {topology, lock, load}) {
    const auto end = std::min(pattern.find('/'), pattern.size());
    const auto wanted = pattern.substr(0, end);
    if (!wanted.empty() && wanted != "*" && wanted != part) return false;
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
  }
  return true;
}

std::vector<planned_run> runs_of(const plan& p, const topology& where) {
  std::vector<planned_run> all;
  for (const lock_row& row : lock_rows())
    for (const load& l : loads())
      if (is_for(row, where) && (l.in_quick || !p.is_quick) && !(l.keeps && row.make) &&
          (p.with_peers || !row.is_peer) && p.wants(where.name, row.name, l.name))
        all.push_back({row, l});
  return all;
}

// Memory hardly differs from round to round, and many locks take long to acquire.
unsigned rounds_of(const plan& p, const load& l) { return l.keeps ? 1 : p.rounds; }

measurement run_undisturbed(const plan& p, const planned_run& r, deployment& where, cell& c) {
  // A load that counts its attempts takes as long as they take, divided among the rounds.
  load share = r.under;
  share.attempts = (share.attempts + p.rounds - 1) / p.rounds;
  const auto length = share.attempts != 0 && !p.is_quick ? p.length * 16 : p.length;
  for (unsigned i = 0;; ++i) {
    measurement m = measure(r.row, where, share, length);
    if (m.others_cpu < disturbed_from || i == p.repeats) return m;
    ++c.repeated;
  }
}

void run_once(const plan& p, const planned_run& r, deployment& where, cell& c) {
  try {
    measurement m = run_undisturbed(p, r, where, c);
    if (m.acquired == 0) c.refused = m.first_error.empty() ? "no acquisition" : m.first_error;
    c.runs.push_back(std::move(m));
  } catch (const holdfast::lock_error& e) {
    c.refused = e.what();
  } catch (const subject_missing& e) {
    c.refused = e.what();
  }
}

// The rounds are interleaved: what changes on the machine in the meantime changes for all locks.
void run_on(const plan& p, const topology& on, deployment& where, results& to,
            const std::string& file, progress& shown) {
  for (unsigned round = 0; round < p.rounds; ++round) {
    for (const planned_run& r : runs_of(p, on)) {
      cell& c = to.cell_of(on.name, r.row.name, r.under.name);
      c.is_unsafe = r.row.is_unsafe;
      shown.step(std::string(on.name) + '/' + std::string(r.row.name) + '/' +
                 std::string(r.under.name));
      if (!c.refused.empty() || c.runs.size() > round || round >= rounds_of(p, r.under)) continue;
      run_once(p, r, where, c);
      if (shown.is_time_to_save()) save(to, file);
    }
  }
  save(to, file);
}

topology topology_of(const std::string& url) {
  const std::string_view scheme = std::string_view(url).substr(0, url.find(':'));
  for (const topology& t : topologies()) {
    const bool is_several = scheme == "redis+" + std::string(t.name) ||
                            scheme == "rediss+" + std::string(t.name) ||
                            scheme.ends_with("+" + std::string(t.backend));
    if (is_several || scheme == t.backend || scheme == std::string(t.backend) + "s") return t;
  }
  throw std::runtime_error("no lock of the survey is for this URL");
}

bool is_finished(const plan& p, const topology& on, results& r) {
  return std::ranges::all_of(runs_of(p, on), [&](const planned_run& one) {
    const cell& c = r.cell_of(on.name, one.row.name, one.under.name);
    return !c.refused.empty() || c.runs.size() >= rounds_of(p, one.under);
  });
}

void run_topology(const plan& p, const topology& on, results& to, const std::string& file,
                  progress& shown) {
  const auto runs = runs_of(p, on);
  const auto refuse_all = [&](const std::string& why) {
    for (const planned_run& r : runs) to.cell_of(on.name, r.row.name, r.under.name).refused = why;
    shown.skip(runs.size() * p.rounds);
  };
  if (is_finished(p, on, to)) return shown.skip(runs.size() * p.rounds);
  std::unique_ptr<deployment> where;
  if (!p.url.empty()) {
    where = std::make_unique<users_own>(p.url);
  } else if (const char* missing = on.missing()) {
    return refuse_all(missing);
  } else {
    shown.note("starting " + std::string(on.what));
    try {
      where = on.start();
    } catch (const std::exception& e) {
      return refuse_all(std::string("the servers did not start: ") + e.what());
    }
  }
  run_on(p, on, *where, to, file, shown);
}

}  // namespace

plan plan::quick() {
  plan p;
  p.is_quick = true;
  p.rounds = 1;
  p.length = std::chrono::duration<double>(0.4);
  p.repeats = 0;
  return p;
}

bool plan::wants(std::string_view topology, std::string_view lock, std::string_view load) const {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& pattern) {
           return matches(pattern, topology, lock, load);
         });
}

bool results::continues(const plan& p) const {
  return !is_complete && is_quick == p.is_quick && with_peers == p.with_peers && only == p.only &&
         url == without_password(p.url);
}

cell& results::cell_of(std::string_view topology, std::string_view lock, std::string_view load) {
  for (cell& c : cells)
    if (c.topology == topology && c.lock == lock && c.load == load) return c;
  cells.push_back(
      {.topology = std::string(topology), .lock = std::string(lock), .load = std::string(load)});
  return cells.back();
}

void run_survey(const plan& p, results& to, const std::string& file) {
  std::vector<topology> chosen(topologies().begin(), topologies().end());
  if (!p.url.empty()) chosen = {topology_of(p.url)};
  std::size_t steps = 0;
  for (const topology& t : chosen) steps += runs_of(p, t).size() * p.rounds;
  if (steps == 0)
    throw std::runtime_error("--only leaves nothing to measure; the locks of other libraries "
                             "are measured with --peers");
  progress shown(steps);
  for (const topology& t : chosen)
    if (!runs_of(p, t).empty()) run_topology(p, t, to, file, shown);
  to.is_complete = true;
  save(to, file);
}

}  // namespace survey
