// ./dev sim: explores schedules, replays one with a trace, or makes one number of many.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "tests/mutants/register/mutant.hpp"
#include "tests/sim/machine/digest.hpp"
#include "tests/sim/machine/explorer.hpp"
#include "tests/sim/memory/player.hpp"
#include "tests/sim/program/playable.hpp"
#include "tests/sim/program/survey.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redlock/play.hpp"

namespace holdfast::sim {
namespace {

using clock = std::chrono::steady_clock;

struct order {
  std::optional<double> minutes;
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> digest;  // of so many schedules
  const mutants::mutant* mutant = nullptr;
  std::optional<playable> layout = playable_named({});
  int servers = 0;  // 0: as many as the layout has by itself
  int replicas = 0;
  int masters = 0;    // of a cluster; 0: there is none
  int sentinels = 0;  // 0: there are none
  bool lists = false, each = false, of_memory = false, keeps_going = false;
  bool plays_all = false, of_mutexes = false;
};

int explain_usage() {
  std::cerr
      << "usage: ./dev sim --minutes M [--seed N] [--mutant NAME]   explores from seed N\n"
         "                --keep-going: lists each violation by its seed and goes on\n"
         "       ./dev sim --seed N [--mutant NAME]                 replays one, with a trace\n"
         "       ./dev sim --digest N [--each] [--seed S]           one number for all that "
         "happens\n"
         "                in N schedules, from the seed S (1) on, and for all bytes that are\n"
         "                written; --each: one for each schedule. Equal: nothing has changed\n"
         "       ./dev sim --layout L ...                           plays another layout: "
      << playable_layouts()
      << "\n"
         "       ./dev sim --servers 2 ...                          Redis behind one name, with\n"
         "                failovers, or MariaDB with a replica that is promoted; with --layout\n"
         "                redlock, 3 to 9 masters (3)\n"
         "       ./dev sim --servers 2 --replicas 1 ...             Redis with replicas=1\n"
         "       ./dev sim --sentinels 3 [--replicas 1] ...         Redis on two servers that\n"
         "                three sentinels watch, with failovers\n"
         "       ./dev sim --cluster N ...                          Redis Cluster of 2 or 3 "
         "masters,\n"
         "                whose slots move; layout string only\n"
         "       ./dev sim --memory --digest N | --seed N ...       the same of the memory store\n"
         "       ./dev sim --kind mutex ...                         all locks are mutexes\n"
         "       ./dev sim --all [--minutes M] [--seed N]           a table of all of them: for M\n"
         "                minutes (0.02) of processor time each, their schedules, events,\n"
         "                violations and rules\n"
         "       ./dev sim --mutants                                lists the planted faults\n";
  return 64;
}

std::optional<playable> with_servers(const playable& l, int servers, int replicas) {
  if (replicas < 0 || replicas > (servers == 2 ? 1 : 0)) return std::nullopt;
  if (l.name == "redlock" && servers >= 3 && servers <= masters_max)
    return playable_redlock(servers);
  if (l.name == "redlock" || servers > 2) return std::nullopt;
  return servers == 2 ? playable_of_two(l.name, replicas) : l;
}

std::optional<playable> with_sentinels(const playable& l, int sentinels, int replicas) {
  if (sentinels != usual_sentinels || replicas < 0 || replicas > 1) return std::nullopt;
  return playable_of_sentinels(l.name, replicas);
}

std::optional<order> read(int argc, char** argv) {
  order out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--mutants") {
      out.lists = true;
      continue;
    }
    if (option == "--keep-going" || option == "--all") {
      (option == "--all" ? out.plays_all : out.keeps_going) = true;
      continue;
    }
    if (option == "--each" || option == "--memory") {
      (option == "--each" ? out.each : out.of_memory) = true;
      continue;
    }
    if (++i == argc) return std::nullopt;
    char* end = argv[i];
    if (option == "--minutes") {
      out.minutes = std::strtod(argv[i], &end);
    } else if (option == "--seed") {
      out.seed = std::strtoull(argv[i], &end, 10);
    } else if (option == "--digest") {
      out.digest = std::strtoull(argv[i], &end, 10);
    } else if (option == "--servers") {
      out.servers = static_cast<int>(std::strtol(argv[i], &end, 10));
    } else if (option == "--replicas") {
      out.replicas = static_cast<int>(std::strtol(argv[i], &end, 10));
    } else if (option == "--sentinels") {
      out.sentinels = static_cast<int>(std::strtol(argv[i], &end, 10));
    } else if (option == "--cluster") {
      out.masters = static_cast<int>(std::strtol(argv[i], &end, 10));
    } else if (option == "--layout") {
      out.layout = playable_named(argv[i]);
      if (!out.layout) return std::nullopt;
      end = argv[i] + std::string_view(argv[i]).size();
    } else if (option == "--kind") {
      out.of_mutexes = std::string_view(argv[i]) == "mutex";
      if (!out.of_mutexes) return std::nullopt;
      end = argv[i] + std::string_view(argv[i]).size();
    } else if (option == "--mutant") {
      out.mutant = mutants::mutant_named(argv[i]);
      if (out.mutant) end = argv[i] + std::string_view(argv[i]).size();
    }
    if (end == argv[i] || *end != '\0') return std::nullopt;
  }
  if (out.sentinels != 0) {
    out.layout = with_sentinels(*out.layout, out.sentinels, out.replicas);
  } else if (out.servers > 0 || out.replicas != 0) {
    out.layout = with_servers(*out.layout, out.servers, out.replicas);
  }
  if (out.layout && out.masters != 0)
    out.layout = playable_of_cluster(out.layout->name, out.masters);
  if (!out.layout) return std::nullopt;
  if (out.of_mutexes) out.layout = of_mutexes(std::move(*out.layout));
  if (!out.layout) return std::nullopt;
  if (out.plays_all) return out.of_mutexes ? std::nullopt : std::optional(out);
  if (!out.minutes && !out.seed && !out.lists && !out.digest) return std::nullopt;
  if (out.each && !out.digest) return std::nullopt;
  if (out.of_memory && out.minutes) return std::nullopt;
  if (out.keeps_going && !out.minutes) return std::nullopt;
  return out;
}

class teller {  // of progress, every ten seconds
 public:
  explicit teller(double minutes) noexcept
      : end_(began_ + std::chrono::duration_cast<clock::duration>(
                          std::chrono::duration<double>(minutes * 60))) {}

  bool goes_on(const progress& p) {
    last_ = p;
    const clock::time_point now = clock::now();
    if (now >= end_) return false;
    if (now >= next_) {
      next_ += std::chrono::seconds(10);
      say(now);
    }
    return true;
  }
  void say(clock::time_point now) const {
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double hours = std::chrono::duration<double>(last_.lasted).count() / 3600;
    const auto n = static_cast<double>(last_.schedules);
    std::printf(
        "%.0f s: %.0f schedules, %.0f a minute, %.0f events, %.1f virtual hours, %.0f %% excused\n",
        seconds, n, n / seconds * 60, static_cast<double>(last_.events), hours,
        last_.excused_percent());
    std::fflush(stdout);
  }

 private:
  const clock::time_point began_ = clock::now(), end_;
  clock::time_point next_ = began_ + std::chrono::seconds(10);
  progress last_{};
};

int replay(std::uint64_t seed, const playable& l) {
  const plan p = l.draw(seed);
  std::cout << p.text() << '\n';
  const result r = l.play(p, &std::cout, recording::off);
  std::cout << (r.complaint.empty() ? "all was as it must be" : "VIOLATION: " + r.complaint)
            << '\n';
  std::printf("digest %016llx\n", static_cast<unsigned long long>(r.digest));
  return r.complaint.empty() ? 0 : 1;
}

int replay_memory(std::uint64_t seed) {
  const std::uint64_t value = play_memory(seed, &std::cout);
  std::printf("digest %016llx\n", static_cast<unsigned long long>(value));
  return 0;
}

int compute_digest(const order& o) {
  const std::uint64_t first = o.seed.value_or(1);
  digest all;
  bool is_well = true;
  for (std::uint64_t seed = first; seed < first + *o.digest; ++seed) {
    result r;
    if (o.of_memory) {
      r.digest = play_memory(seed);
    } else {
      r = o.layout->play(o.layout->draw(seed), nullptr, recording::on);
    }
    all.add(r.digest);
    if (o.each)
      std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(r.digest));
    if (r.complaint.empty()) continue;
    is_well = false;
    std::cerr << "VIOLATION at seed " << seed << ": " << r.complaint << '\n';
  }
  std::printf("digest of %llu schedules%s from seed %llu: %016llx\n",
              static_cast<unsigned long long>(*o.digest), o.of_memory ? " of memory" : "",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(all.value()));
  return is_well ? 0 : 1;
}

int search(const order& o) {
  const std::uint64_t seed =
      o.seed ? *o.seed : static_cast<std::uint64_t>(std::random_device{}()) << 16;
  std::printf("from seed %llu\n", static_cast<unsigned long long>(seed));
  teller t(*o.minutes);
  const auto goes_on = [&](const progress& p) { return t.goes_on(p); };
  if (o.keeps_going) {
    const std::uint64_t violations =
        explore_all(seed, o.layout->draw, o.layout->play, goes_on, [](const violation& v) {
          std::cout << "VIOLATION at seed " << v.whole.seed << ": " << v.complaint << std::endl;
        });
    t.say(clock::now());
    std::cout << violations << " violations\n";
    return violations == 0 ? 0 : 1;
  }
  const auto found = explore(seed, o.layout->draw, o.layout->play, goes_on);
  t.say(clock::now());
  if (!found) return 0;
  const bool is_usual_number =
      o.sentinels > 0 || o.layout->servers == playable_named(o.layout->name)->servers;
  std::cout << "VIOLATION at seed " << found->whole.seed << ": " << found->complaint << '\n'
            << "as small as it gets: " << found->least.text() << '\n';
  o.layout->play(found->least, &std::cout, recording::off);
  std::cout << "VIOLATION at seed " << found->whole.seed << ": " << found->complaint << '\n'
            << "replay: ./dev sim "
            << (is_usual_number ? "" : "--servers " + std::to_string(o.layout->servers) + ' ')
            << (o.sentinels > 0 ? "--sentinels " + std::to_string(o.sentinels) + ' ' : "")
            << (o.replicas > 0 ? "--replicas " + std::to_string(o.replicas) + ' ' : "")
            << (o.masters == 0 ? "" : "--cluster " + std::to_string(o.masters) + ' ')
            << (o.layout->is_usual ? "" : "--layout " + o.layout->name + ' ')
            << (o.of_mutexes ? "--kind mutex " : "") << "--seed " << found->whole.seed << '\n';
  return 1;
}

int list_mutants() {
  for (const mutants::mutant& m : mutants::all_mutants())
    std::cout << m.name << ": " << m.rule << '\n';
  return 0;
}

int carry_out(const order& o) {
  if (o.plays_all) return survey(o.minutes.value_or(0.02), o.seed.value_or(1)) == 0 ? 0 : 1;
  if (o.digest) return compute_digest(o);
  if (o.of_memory) return replay_memory(*o.seed);
  return o.minutes ? search(o) : replay(*o.seed, *o.layout);
}

}  // namespace
}  // namespace holdfast::sim

int main(int argc, char** argv) try {
  using namespace holdfast::sim;
  const auto o = read(argc, argv);
  if (!o) return explain_usage();
  if (o->lists) return list_mutants();
  if (o->mutant) holdfast::mutants::plant(*o->mutant);
  const int status = carry_out(*o);
  holdfast::mutants::check_planted();
  return status;
} catch (const std::exception& e) {
  std::cerr << "sim: " << e.what() << '\n';
  return 70;
}
