#include "cli/explanation_text.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/count_text.hpp"
#include "cli/json.hpp"
#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

using history::recorded_turn;

constexpr std::int64_t second = 1'000'000'000;

std::int64_t wall_of(const explanation& e, std::int64_t boottime) {
  return e.read_at.wall - (e.read_at.boottime - boottime);
}

std::string formatted(std::int64_t wall, const char* format, bool is_utc) {
  const time_t whole = wall / second;
  tm parts{};
  is_utc ? ::gmtime_r(&whole, &parts) : ::localtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const std::size_t size = ::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), size};
}

std::string thousandths(std::int64_t wall) {
  const std::string digits = std::to_string(1000 + wall % second / 1'000'000);
  return '.' + digits.substr(1);
}

// With the date where it is not today's.
std::string clock_time(const explanation& e, std::int64_t boottime, bool is_exact) {
  const std::int64_t wall = wall_of(e, boottime);
  const std::string day = formatted(wall, "%F", false);
  std::string out = day == formatted(e.read_at.wall, "%F", false) ? "" : day + ' ';
  out += formatted(wall, "%T", false);
  return is_exact ? out + thousandths(wall) : out;
}

std::string process_of(const explanation& e, std::size_t client) {
  const history::client_recording& c = e.client(client);
  return "pid " + std::to_string(c.pid) + (c.program.empty() ? "" : " (" + c.program + ')');
}

// "nightly" at file:
std::string lock_of(const explanation& e, const recorded_turn& t) {
  return '"' + e.lock_name(t.client, t.lock) + "\" at " + e.client(t.client).store;
}

std::string timeline_of(const explanation& e, std::size_t lines) {
  std::set<std::string> locks;
  for (const timeline_entry& t : e.timeline)
    locks.insert(history::identity_of(e.client(t.client), e.client(t.client).locks[t.lock]));
  const std::size_t first =
      lines == 0 || e.timeline.size() <= lines ? 0 : e.timeline.size() - lines;
  std::string out;
  if (first > 0)
    out += "(" + counted(first, "earlier event", "earlier events") + "; -n 0 prints all)\n";
  std::size_t longest = 0;
  for (std::size_t i = first; i < e.timeline.size(); ++i)
    longest = std::max(longest, process_of(e, e.timeline[i].client).size());
  for (std::size_t i = first; i < e.timeline.size(); ++i) {
    const timeline_entry& t = e.timeline[i];
    std::string process = process_of(e, t.client);
    process.resize(longest, ' ');
    out += clock_time(e, t.time, true) + "  " + process + "  " + t.text;
    if (locks.size() > 1 && std::string_view(t.event) != "late")
      out += "  [" + e.lock_name(t.client, t.lock) + ']';
    out += '\n';
  }
  return out;
}

const recorded_turn& turn_of(const explanation& e, const history::record& r) {
  return e.turns.turns[std::stoul(r.process)];
}

std::string sentence_of(const explanation& e, const history::violation& v) {
  const recorded_turn &first = turn_of(e, v.first), &second_turn = turn_of(e, v.second);
  const auto grant = [&](const recorded_turn& t) {
    std::string out = process_of(e, t.client) + " acquired it at " + clock_time(e, t.granted, true);
    return t.token != 0 ? out + " with token " + std::to_string(t.token) : out;
  };
  std::string fault = history::to_text(v.what);
  if (v.what == history::fault::overlap) fault = "two holders at the same time";
  return "FAULT of " + lock_of(e, first) + ": " + fault + ": " + grant(first) +
         (first.has_ended() ? " and held it until " + clock_time(e, first.ended, true)
                            : std::string(" and has not released it")) +
         "; " + grant(second_turn) + ".\n";
}

std::string verdict_of(const explanation& e) {
  const std::string grants = counted(e.turns.turns.size(), "grant", "grants");
  const auto overlaps =
      static_cast<std::size_t>(std::ranges::count_if(e.violations, [](const auto& v) {
        return v.what != history::fault::token_not_grown;
      }));
  std::string out = overlaps == 0 ? "No overlap in " + grants
                                  : counted(overlaps, "overlap", "overlaps") + " in " + grants;
  const std::size_t others = e.violations.size() - overlaps;
  if (others > 0)
    out += "; " + counted(others, "token that did not grow", "tokens that did not grow");
  if (e.losses.empty()) return out + "; no loss.\n";
  const explained_loss& last = e.losses.back();
  if (e.losses.size() == 1)
    return out + "; 1 loss at " + clock_time(e, last.turn.ended, false) + ": " + last.why + ".\n";
  return out + "; " + grouped(e.losses.size()) + " losses, the last one at " +
         clock_time(e, last.turn.ended, false) + ": " + last.why + ".\n";
}

std::string states_of_holders(const explanation& e) {
  std::string out;
  for (const recorded_turn& t : e.held) {
    out += process_of(e, t.client) + " has held " + lock_of(e, t) + " since " +
           clock_time(e, t.granted, false);
    if (e.states[t.client] == process_state::stopped)
      out += t.deadline == history::no_deadline
                 ? ". The process is stopped"
                 : ". The process is stopped; its last confirmed deadline is " +
                       clock_time(e, t.deadline, false);
    out += ".\n";
  }
  constexpr std::size_t named = 3;
  const std::size_t first = e.abandoned.size() > named ? e.abandoned.size() - named : 0;
  for (std::size_t i = first; i < e.abandoned.size(); ++i) {
    const recorded_turn& t = e.abandoned[i];
    out += process_of(e, t.client) + " ended while it held " + lock_of(e, t) +
           ", which it had acquired at " + clock_time(e, t.granted, false) + ".\n";
  }
  if (first > 0)
    out += "So did " + counted(first, "holder", "holders") +
           " before. A file lock is released at the " +
           "end of its process, as holdfast run does.\n";
  for (const history::recorded_wait& w : e.turns.waits)
    out += process_of(e, w.client) + " has waited for \"" + e.lock_name(w.client, w.lock) +
           "\" since " + clock_time(e, w.asked, false) + ".\n";
  return out;
}

std::string limits_of(const explanation& e) {
  std::string out;
  const auto is_coarse = [](const history::client_recording& c) { return c.is_coarse; };
  if (std::ranges::any_of(e.from.clients, is_coarse))
    out += "Times of file: locks are steps of a few milliseconds; a shorter overlap is not seen.\n";
  std::size_t torn = 0;
  for (const history::client_recording& c : e.from.clients) torn += c.torn;
  if (torn > 0) out += counted(torn, "event was", "events were") + " cut short and left out.\n";
  if (e.turns.without_name > 0)
    out += counted(e.turns.without_name, "event has", "events have") +
           " lost the name of the lock and were left out.\n";
  return out;
}

json_object json_of_entry(const explanation& e, const timeline_entry& t) {
  const std::int64_t wall = wall_of(e, t.time);
  const auto token = t.token != 0 ? json_value(std::to_string(t.token)) : json_value(nullptr);
  return {{{"time", formatted(wall, "%FT%T", true) + thousandths(wall) + 'Z'},
           {"pid", e.client(t.client).pid},
           {"program", e.client(t.client).program},
           {"store", e.client(t.client).store},
           {"name", e.lock_name(t.client, t.lock)},
           {"event", std::string(t.event)},
           {"token", token},
           {"text", t.text}}};
}

}  // namespace

std::string page_of_explanation(const explanation& e, std::size_t lines) {
  std::string out = timeline_of(e, lines) + '\n';
  for (const history::violation& v : e.violations) out += sentence_of(e, v);
  out += verdict_of(e) + states_of_holders(e) + limits_of(e);
  std::string shown;
  for (std::string_view remaining = out; !remaining.empty();) {
    const std::string_view line = remaining.substr(0, remaining.find('\n'));
    shown += printable(line) + '\n';
    remaining.remove_prefix(std::min(line.size() + 1, remaining.size()));
  }
  return shown;
}

std::string json_of_explanation(const explanation& e) {
  std::vector<json_object> events, faults;
  for (const timeline_entry& t : e.timeline) events.push_back(json_of_entry(e, t));
  for (const history::violation& v : e.violations) {
    std::string text = sentence_of(e, v);
    text.pop_back();
    faults.push_back({{{"what", history::to_text(v.what)},
                       {"first_pid", e.client(turn_of(e, v.first).client).pid},
                       {"second_pid", e.client(turn_of(e, v.second).client).pid},
                       {"text", text}}});
  }
  std::string verdict = verdict_of(e);
  verdict.pop_back();
  return json_text({{{"grants", static_cast<std::int64_t>(e.turns.turns.size())},
                     {"losses", static_cast<std::int64_t>(e.losses.size())},
                     {"holders", static_cast<std::int64_t>(e.held.size())},
                     {"abandoned", static_cast<std::int64_t>(e.abandoned.size())},
                     {"waiting", static_cast<std::int64_t>(e.turns.waits.size())},
                     {"verdict", verdict},
                     {"faults", faults},
                     {"events", events}}}) +
         '\n';
}

}  // namespace holdfast::cli
