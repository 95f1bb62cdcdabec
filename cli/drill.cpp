// holdfast drill
#include <holdfast/client.hpp>

#include <charconv>
#include <optional>
#include <random>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/drill_route.hpp"
#include "cli/drill_run.hpp"
#include "cli/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/interruptible.hpp"
#include "cli/json.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint32_t fewest_workers = 2, usual_workers = 4, most_workers = 64;
constexpr double usual_minutes = 10, most_minutes = 1440, seconds_per_minute = 60;
constexpr const char* drill_ttl = "2s";

struct drill_arguments {
  std::optional<std::string> url, minutes, failover;
  std::optional<std::uint32_t> workers, seed;
  bool json = false, yes = false, help = false;
};

drill_arguments parse_drill_arguments(int argc, char** argv) {
  drill_arguments out;
  const separated_words words = take_words(argc, argv);
  command_line line;
  line.text("--url", out.url);
  line.text("--minutes", out.minutes);
  line.number("--workers", out.workers, fewest_workers, most_workers);
  line.number("--seed", out.seed, 0, UINT32_MAX);
  line.text("--failover", out.failover);
  line.flag("--json", out.json);
  line.flag("--yes", out.yes);
  line.parse(words.before);
  out.help = line.asks_for_help();
  if (!out.help && (!line.plain_words().empty() || (words.after && *words.after)))
    throw usage_error("drill takes no NAME: " + std::string(usage_of("drill")));
  return out;
}

std::chrono::milliseconds length_of(const std::optional<std::string>& minutes) {
  double value = usual_minutes;
  if (minutes) {
    const char* const end = minutes->data() + minutes->size();
    const auto read = std::from_chars(minutes->data(), end, value, std::chars_format::fixed);
    if (read.ec != std::errc{} || read.ptr != end || !(value > 0) || value > most_minutes)
      throw usage_error("--minutes is '" + *minutes +
                        "'; give a number of minutes above 0, at most 1440");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(value * seconds_per_minute * 1000));
}

// With a short ttl, unless the URL has one: a stopped worker then loses its locks soon.
std::string with_ttl(const place& at) {
  return with_default(at.text.empty() ? "file:" : at.text, at.parsed, "ttl", drill_ttl);
}

std::string plan_of_links(const place& at) {
  const drill_route route = route_of(at.parsed);
  if (!route.obstacle.empty()) return "\n  passes no connection through a proxy: " + route.obstacle;
  if (route.servers.empty()) return {};
  return "\n  passes their connections through proxies of its own, which cut, delay and silence "
         "them";
}

std::string plan_of_failover(const place& at, const drill_terms& terms) {
  if (terms.failover.empty()) return {};
  const bool is_own = terms.failover == own_failover;
  return is_own ? "\n  sends once, at half time: " + failover_commands(*at.parsed)
                : "\n  runs once, at half time: " + terms.failover;
}

std::string plan_text(const place& at, const drill_terms& terms) {
  return "drill of " + at.shown() + ", " + spoken(terms.length) + ", seed " +
         std::to_string(terms.seed) + ":\n  starts " + std::to_string(terms.workers) +
         " processes of its own with 3 threads each, which contend for at most 7 locks named " +
         drill_prefix + "...\n  stops and kills these processes" +
         (terms.has_connections ? ", and cuts their connections" : "") + plan_of_links(at) +
         plan_of_failover(at, terms) + "\n  uses no other lock, and releases its own at the end\n";
}

std::string spread(const std::vector<nanoseconds>& values) {
  const auto ms = [&](double share) {
    const auto tenths = quantile(values, share).count() / 100'000;
    return (tenths < 0 ? "-" : "") + std::to_string(std::abs(tenths) / 10) + '.' +
           std::to_string(std::abs(tenths) % 10) + " ms";
  };
  if (values.empty()) return "none";
  return std::to_string(values.size()) + ": shortest " + ms(0) + ", median " + ms(0.5) +
         ", 99 % within " + ms(0.99) + ", longest " + ms(1);
}

std::string report_text(const drill_result& r) {
  const drill_figures& f = r.figures;
  std::string out = "calls                 " + std::to_string(f.calls) + ", of which " +
                    std::to_string(f.grants) + " grants\nfaults               ";
  for (const auto& [name, count] : r.faults)
    out += ' ' + name + ' ' + std::to_string(count) + (name == r.faults.rbegin()->first ? "" : ",");
  if (!r.obstacle.empty()) out += "\nno proxies            " + printable(r.obstacle);
  out += "\nlosses noticed        " + std::to_string(f.losses);
  out += "\nhand-off              " + spread(f.hand_offs);
  out += "\nmargin after a loss   " + spread(f.margins);
  out += "\nnotice before grant   " + spread(f.notices_before_grant);
  out += "\nnotice after deadline " + spread(f.notices_after_deadline);
  out += "\nstale writes          without a fencing token " + std::to_string(f.refused_writes) +
         " of " + std::to_string(f.writes) + " and " + std::to_string(f.refused_planted_writes) +
         " of " + std::to_string(f.planted_writes) + " planted late writes; with it " +
         std::to_string(f.stale_writes);
  out += "\ntwo holders           " + std::to_string(f.overlaps);
  out += "\nother violations      " + std::to_string(f.other_violations) + '\n';
  for (const std::string& line : r.complaints) out += printable(line) + '\n';
  return out;
}

json_object times_object(const std::vector<nanoseconds>& values) {
  const auto us = [&](double share) { return quantile(values, share).count() / 1000; };
  return {{{"count", static_cast<std::int64_t>(values.size())},
           {"min_us", us(0)},
           {"median_us", us(0.5)},
           {"p99_us", us(0.99)},
           {"max_us", us(1)}}};
}

std::string report_json(const drill_result& r, std::uint64_t seed) {
  const drill_figures& f = r.figures;
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  std::vector<json_object> faults, complaints;
  for (const auto& [name, count] : r.faults)
    faults.push_back({{{"fault", name}, {"times", static_cast<std::int64_t>(count)}}});
  for (const std::string& line : r.complaints) complaints.push_back({{{"text", line}}});
  return json_text(
      json_object{{{"seed", static_cast<std::int64_t>(seed)},
                   {"calls", number(f.calls)},
                   {"grants", number(f.grants)},
                   {"losses", number(f.losses)},
                   {"hand_off", std::vector{times_object(f.hand_offs)}},
                   {"margin", std::vector{times_object(f.margins)}},
                   {"notice_before_grant", std::vector{times_object(f.notices_before_grant)}},
                   {"notice_after_deadline", std::vector{times_object(f.notices_after_deadline)}},
                   {"writes", number(f.writes)},
                   {"planted_writes", number(f.planted_writes)},
                   {"stale_without_token", number(f.refused_writes)},
                   {"planted_stale_without_token", number(f.refused_planted_writes)},
                   {"stale_with_token", number(f.stale_writes)},
                   {"two_holders", number(f.overlaps)},
                   {"other_violations", number(f.other_violations)},
                   {"faults", faults},
                   {"no_proxies", r.obstacle},
                   {"complaints", complaints}}});
}

bool is_sound(const drill_result& r) {
  const drill_figures& f = r.figures;
  return f.overlaps + f.stale_writes + f.other_violations + r.complaints.size() == 0;
}

}  // namespace

int drill(int argc, char** argv) {
  const auto arguments = parse_drill_arguments(argc, argv);
  if (arguments.help) return print(help_text("drill"));
  const place at = place_of(arguments.url);
  refuse_memory(at);
  if (arguments.failover == own_failover)
    if (const std::string why = failover_obstacle(at.parsed); !why.empty()) throw usage_error(why);
  const drill_terms terms{.url = with_ttl(at),
                          .has_connections = !at.local(),
                          .length = length_of(arguments.minutes),
                          .workers = arguments.workers.value_or(usual_workers),
                          .seed = arguments.seed.value_or(std::random_device{}()),
                          .failover = arguments.failover.value_or("")};
  if (!arguments.yes) {
    print(plan_text(at, terms));
    throw usage_error("nothing was done; give --yes to start the drill");
  }
  signal_inbox signals;
  if (!arguments.json) print(plan_text(at, terms));
  drill_result result;
  const auto work = [&](const std::stop_token& stop) { result = run_drill(terms, stop); };
  const int signal = run_interruptibly(signals, work, orphans::left);
  if (signal != 0) return exit_by_signal + signal;
  const int failed =
      print(arguments.json ? report_json(result, terms.seed) + '\n' : report_text(result));
  if (failed != 0) return failed;
  return is_sound(result) ? 0 : exit_bad;
}

}  // namespace holdfast::cli
