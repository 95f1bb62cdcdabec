#include "cli/explanation.hpp"

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <algorithm>
#include <utility>

#include "cli/duration_text.hpp"

namespace holdfast::cli {
namespace {

using history::client_event;
using history::client_recording;
using history::recorded_event;
using history::recorded_turn;
using kind = recorded_event::kind;
using ending = recorded_event::ending;

std::string spoken_ns(std::int64_t ns) { return spoken(std::chrono::nanoseconds(ns)); }

std::string text_of_ending(ending reason) {
  switch (reason) {
    case ending::ran_out: return "lost it: no renewal was confirmed before its deadline";
    case ending::hold_ended: return "lost it: its max_hold ended";
    case ending::taken: return "lost it: the store reported another owner";
    case ending::forgotten: return "lost it: the store reported no owner";
    case ending::closed: return "released it: its client was closed";
    case ending::released: break;
  }
  return "released it";
}

std::string text_of_grant(const client_event& e, const history::recorded_lock& lock) {
  std::string out = "acquired it";
  if (lock.total_permits > 0)
    out = "acquired " + std::to_string(e.permits()) + " of " + std::to_string(lock.total_permits) +
          " permits";
  if (e.mode() == static_cast<unsigned>(lock_mode::shared)) out += " shared";
  if (e.token != 0) out += ", token " + std::to_string(e.token);
  if (e.since != 0 && e.time - e.since >= 1'000'000)
    out += ", after a wait of " + spoken_ns(e.time - e.since);
  return out;
}

std::string text_of_refusal(const client_event& e) {
  std::string out = "did not acquire it: " + std::error_code(errc(e.reason())).message();
  if (e.permits() > 1) out += ", " + std::to_string(e.permits()) + " times";
  return out;
}

timeline_entry entry_of(const client_event& e, std::size_t client,
                        const history::recorded_lock& lock) {
  timeline_entry out{.time = e.time, .client = client, .lock = e.lock, .token = e.token};
  const auto say = [&out](const char* event, std::string text) {
    out.event = event;
    out.text = std::move(text);
  };
  switch (e.what()) {
    case kind::asked: say("waits", "waits for it"); break;
    case kind::granted: say("acquired", text_of_grant(e, lock)); break;
    case kind::refused: say("refused", text_of_refusal(e)); break;
    case kind::downgraded: say("downgraded", "became a reader"); break;
    case kind::confirmed: say("renewed", "renewed it"); break;
    case kind::doubted: say("doubted", "was notified that it may lose it"); break;
    case kind::late: say("late", "did not run for at least " + spoken_ns(e.time - e.since)); break;
    case kind::ended: {
      const auto reason = static_cast<ending>(e.reason());
      say(reason == ending::released || reason == ending::closed ? "released" : "lost",
          text_of_ending(reason));
      if (reason == ending::released && e.since != 0)
        out.text += " after " + spoken_ns(e.time - e.since);
      break;
    }
  }
  return out;
}

std::string cause_of(const recorded_turn& t, const client_recording& client) {
  if (t.ending == ending::ran_out)
    if (const auto gap = history::standstill_before(t.ended, client))
      return "the process did not run for at least " + spoken_ns(gap->to - gap->from);
  const std::string text = text_of_ending(t.ending);
  return text.substr(text.find(": ") + 2);
}

class explaining {
 public:
  explaining(history::recordings from, const history::moment& read_at, std::string_view name)
      : name_(name) {
    out_.from = std::move(from);
    out_.read_at = read_at;
    if (!name.empty())
      std::erase_if(out_.from.clients, [&](const client_recording& c) { return !has_lock(c); });
  }

  explanation explain() {
    for (const client_recording& c : out_.from.clients)
      out_.states.push_back(state_of(c.pid, c.process_start, c.pid_namespace));
    find_timeline();
    find_turns();
    judge_turns();
    return std::move(out_);
  }

 private:
  bool is_asked_for(const std::string& lock) const { return name_.empty() || lock == name_; }
  bool has_lock(const client_recording& c) const {
    return std::ranges::any_of(c.locks, [&](const auto& l) { return is_asked_for(l.name); });
  }

  void find_timeline() {
    for (std::size_t i = 0; i < out_.from.clients.size(); ++i) {
      const client_recording& c = out_.from.clients[i];
      for (const client_event& e : c.events) {
        if (e.lock == client_event::unknown_lock) continue;
        const bool is_of_process = e.what() == kind::late;
        if (is_of_process || is_asked_for(c.locks[e.lock].name))
          out_.timeline.push_back(entry_of(e, i, c.locks[e.lock]));
      }
    }
    std::ranges::stable_sort(out_.timeline, {}, &timeline_entry::time);
  }

  void find_turns() {
    out_.turns = history::find_turns(out_.from.clients);
    std::erase_if(out_.turns.turns, [&](const recorded_turn& t) {
      return !is_asked_for(out_.lock_name(t.client, t.lock));
    });
    std::erase_if(out_.turns.waits, [&](const history::recorded_wait& w) {
      return !is_asked_for(out_.lock_name(w.client, w.lock)) ||
             out_.states[w.client] == process_state::ended;
    });
  }

  void judge_turns() {
    std::vector<bool> has_ended;
    for (const process_state s : out_.states) has_ended.push_back(s == process_state::ended);
    out_.violations = history::check(history::records_of(out_.turns, out_.from.clients, has_ended));
    for (const recorded_turn& t : out_.turns.turns) {
      if (t.is_lost()) out_.losses.push_back({t, cause_of(t, out_.from.clients[t.client])});
      if (t.has_ended() || t.certain_until != history::no_deadline) continue;
      (has_ended[t.client] ? out_.abandoned : out_.held).push_back(t);
    }
    std::ranges::stable_sort(out_.losses, {}, [](const explained_loss& l) { return l.turn.ended; });
  }

  const std::string_view name_;
  explanation out_;
};

}  // namespace

const std::string& explanation::lock_name(std::size_t of, std::size_t lock) const {
  return from.clients[of].locks[lock].name;
}

explanation explain_locks(history::recordings from, const history::moment& read_at,
                          std::string_view name) {
  return explaining(std::move(from), read_at, name).explain();
}

}  // namespace holdfast::cli
