#include "history/turns.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace holdfast::history {
namespace {

using kind = recorded_event::kind;
using ending = recorded_event::ending;

constexpr unsigned shared_mode = 1, permit_mode = 2;  // of lock_mode

class turns_of_client {
 public:
  turns_of_client(std::size_t client, const client_recording& from, recorded_turns& to)
      : client_(client), from_(from), to_(to) {}

  void find() {
    std::uint64_t expected = 0;
    std::int64_t before = from_.opened;
    for (const client_event& e : from_.events) {
      if (expected != 0 && e.sequence != expected) note_hole(before);
      expected = e.sequence + 1;
      before = e.time;
      if (e.lock == client_event::unknown_lock) {
        ++to_.without_name;
      } else {
        apply(e);
      }
    }
    for (const recorded_turn& t : open_) to_.turns.push_back(t);
    for (const recorded_wait& w : waits_) to_.waits.push_back(w);
  }

 private:
  void note_hole(std::int64_t time) {
    for (recorded_turn& t : open_) t.certain_until = std::min(t.certain_until, time);
    waits_.clear();
  }

  void apply(const client_event& e) {
    switch (e.what()) {
      case kind::asked: return waits_.push_back({client_, e.lock, e.mode(), e.time});
      case kind::granted: end_wait(e); return begin(e);
      case kind::refused: return end_wait(e);
      case kind::ended: return end(e, static_cast<ending>(e.reason()), false);
      case kind::downgraded: end(e, ending::released, true); return begin(e);
      case kind::confirmed: return confirm(e);
      case kind::doubted:
      case kind::late: return;
    }
  }

  recorded_turn turn_of(const client_event& e) const {
    recorded_turn t{.client = client_, .lock = e.lock, .sequence = e.sequence, .mode = e.mode()};
    t.permits = e.permits();
    t.token = e.token;
    t.deadline = e.deadline;
    return t;
  }

  void begin(const client_event& e) {
    recorded_turn t = turn_of(e);
    t.asked = e.what() == kind::granted ? e.since : 0;
    t.granted = e.time;
    open_.push_back(t);
  }

  std::list<recorded_turn>::iterator find_open(const client_event& e) {
    return std::ranges::find_if(open_, [&](const recorded_turn& t) {
      return t.lock == e.lock && t.token == e.token;
    });
  }

  // Without the grant, which was overwritten, the end has all that is needed.
  void end(const client_event& e, ending how, bool was_downgraded) {
    const auto found = find_open(e);
    if (found == open_.end() && e.since == 0) return;
    recorded_turn t = found != open_.end() ? *found : turn_of(e);
    if (found == open_.end()) t.granted = e.since;
    if (found != open_.end()) open_.erase(found);
    t.deadline = e.deadline;
    t.ended = e.time;
    t.ending = how;
    t.was_downgraded = was_downgraded;
    if (was_downgraded) t.mode = 0;
    t.certain_until = no_deadline;
    to_.turns.push_back(t);
  }

  void confirm(const client_event& e) {
    const auto found = find_open(e);
    if (found == open_.end()) {  // its grant was overwritten
      if (e.since == 0) return;
      recorded_turn t = turn_of(e);
      t.granted = e.since;
      open_.push_back(t);
      return;
    }
    found->deadline = e.deadline;
    found->certain_until = no_deadline;
  }

  void end_wait(const client_event& e) {
    if (e.since == 0) return;
    const auto found = std::ranges::find_if(waits_, [&](const recorded_wait& w) {
      return w.lock == e.lock && w.asked == e.since;
    });
    if (found != waits_.end()) waits_.erase(found);
  }

  const std::size_t client_;
  const client_recording& from_;
  recorded_turns& to_;
  std::list<recorded_turn> open_;
  std::list<recorded_wait> waits_;
};

}  // namespace

recorded_turns find_turns(std::span<const client_recording> clients) {
  recorded_turns out;
  for (std::size_t i = 0; i < clients.size(); ++i) turns_of_client(i, clients[i], out).find();
  std::ranges::stable_sort(out.turns, {}, &recorded_turn::granted);
  return out;
}

std::string identity_of(const client_recording& client, const recorded_lock& lock) {
  return client.store + '\n' + std::to_string(lock.lock_store) +
         (lock.total_permits > 0 ? " permits\n" : "\n") + lock.name;
}

std::optional<standstill> standstill_before(std::int64_t loss, const client_recording& client) {
  std::optional<standstill> found;
  for (const client_event& e : client.events)
    if (e.what() == kind::late && e.since <= loss && e.time >= loss - 1'000'000'000)
      if (!found || e.time - e.since > found->to - found->from) found = {e.since, e.time};
  return found;
}

std::vector<record> records_of(const recorded_turns& all, std::span<const client_recording> clients,
                               const std::vector<bool>& has_ended) {
  std::vector<record> out;
  for (std::size_t i = 0; i < all.turns.size(); ++i) {
    const recorded_turn& t = all.turns[i];
    const client_recording& client = clients[t.client];
    record r;
    r.process = std::to_string(i);
    r.lock = identity_of(client, client.locks[t.lock]);
    r.call = t.asked;
    r.back = t.granted;
    r.shared = t.mode == shared_mode;
    // Readers that hold a lock together have one token in some stores, and in others each its own.
    r.token = r.shared ? 0 : t.token;
    r.deadline = t.deadline;
    if (t.mode == permit_mode) {
      r.permits = t.permits;
      r.of = client.locks[t.lock].total_permits;
    }
    out.push_back(r);
    std::int64_t end = std::min(t.ended, t.certain_until);
    if (!t.has_ended() && has_ended[t.client] && !client.events.empty())
      end = std::min(end, std::max(t.granted, client.events.back().time));
    if (end == no_deadline) continue;
    r.what = operation::release;
    r.call = r.back = end;
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace holdfast::history
