#include "backend/memory/query.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace holdfast::memory {

namespace {

constexpr std::int64_t turns_per_number = 1024;  // a token is number * 1024 + turn

// All clients of a store are in the same process, `me`.
holder describe(const entry& e, const member& m, time_point now, const base::process_identity& me) {
  using std::chrono::milliseconds;
  holder h;
  h.name = *e.name;
  h.owner = text_of(m.who);
  h.note = m.note;
  h.host = me.host;
  h.pid = me.pid;
  h.token = m.number * turns_per_number;
  h.held_for = std::chrono::floor<milliseconds>(now - m.since);
  const bool runs_out = m.lapses - now < forever / 2;
  h.expires_in = runs_out ? std::chrono::floor<milliseconds>(m.lapses - now) : milliseconds::max();
  h.waiting = e.more ? static_cast<int>(e.more->queue.size()) : 0;
  return h;
}

void describe_all(const entry& e, time_point now, const base::process_identity& me,
                  std::vector<holder>& to) {
  if (e.held(now)) {
    const member alone{e.holder, e.number, 0, e.since, e.lapses, e.note};
    to.push_back(describe(e, alone, now, me));
  } else if (e.more) {
    for (const member& m : e.more->members) {
      if (m.lapses <= now) continue;
      holder h = describe(e, m, now, me);
      h.mode = e.more->total_permits == 0 ? lock_mode::shared : lock_mode::permit;
      h.permits = m.permits;
      h.total_permits = e.more->total_permits;
      to.push_back(std::move(h));
    }
  }
}

}  // namespace

// Owned by the list until it is answered, then by the thread that dispatches the answer.
struct queries::item final : store_query, event_source {
  item(queries& q, std::string_view lock) : home(q), name(lock) {}

  void run_at(store& s, time_point now, base::environment& env, push_list& out) override {
    if (broken) {
      if (!verdict) verdict = s.break_lock(name, seen, now, env, out);
      return;
    }
    found.clear();
    const base::process_identity me = env.process();
    s.for_each([&](const entry& e) {
      if (all_that_begin_so ? e.name->starts_with(name) : *e.name == name)
        describe_all(e, now, me, found);
    });
  }

  void on_reply(const reply&, time_point, event_queue& events) override { finish({}, events); }

  // Repeating an inspection is harmless; so is repeating a break_lock, whose first verdict is kept.
  void on_wake(time_point now, event_queue& events) override {
    if (now >= until) return finish(broken ? errc::outcome_unknown : errc::unavailable, events);
    ask(now, events);
  }

  void ask(time_point now, event_queue& events) {
    const time_point again = now + (until - now) / 2;
    home.over_.wake_at(*this, until - again < std::chrono::milliseconds{1} ? until : again);
    if (home.over_.submit(*this, now)) finish({}, events);
  }

  void finish(errc why, event_queue& events) {
    home.over_.forget(*this);
    failed = why;
    (void)place->release();  // the list no longer owns it; the event_queue destroys it
    home.items_.erase(place);
    events.post(*this, claim_event::ended);
  }

  void on_event(claim_event) override {
    std::ranges::stable_sort(found, {}, &holder::name);
    if (failed == errc{}) {
      if (shown) shown->on_result(std::move(found));
      if (broken) broken->on_result(*verdict);
    } else {
      base::failure why{make_error_code(failed), "the memory store did not answer within the "
                                                 "op-timeout; is it in an outage?"};
      shown ? shown->on_failed(std::move(why)) : broken->on_failed(std::move(why));
    }
    retire();
  }
  void on_retired() noexcept override { delete this; }

  queries& home;
  seam::holders_handler* shown = nullptr;
  seam::decision_handler* broken = nullptr;
  const std::string name;
  bool all_that_begin_so = false;  // the name is a prefix
  holder_seen seen;
  time_point until{};
  std::vector<holder> found;
  std::optional<bool> verdict;
  errc failed{};
  std::list<std::unique_ptr<item>>::iterator place;
};

queries::queries(transport& over) noexcept : over_(over) {}
queries::~queries() = default;

void queries::start(std::unique_ptr<item> made) {
  event_queue events;
  const time_point now = over_.env().now();
  {
    const std::lock_guard guard(over_.at().mutex);
    item& i = *made;
    i.until = base::saturating_add(now, over_.rules().op_timeout);
    items_.push_front(std::move(made));
    i.place = items_.begin();
    i.ask(now, events);
    over_.at().deliver(now, events);
  }
  events.dispatch();
}

void queries::inspect(std::string_view prefix, seam::holders_handler& to) {
  auto made = std::make_unique<item>(*this, prefix);
  made->shown = &to;
  made->all_that_begin_so = true;
  start(std::move(made));
}

void queries::holders(std::string_view name, seam::holders_handler& to) {
  auto made = std::make_unique<item>(*this, name);
  made->shown = &to;
  start(std::move(made));
}

void queries::break_lock(std::string_view name, const holder_seen& seen,
                         seam::decision_handler& to) {
  auto made = std::make_unique<item>(*this, name);
  made->broken = &to;
  made->seen = seen;
  start(std::move(made));
}

void queries::fail_all(errc why, event_queue& events) {
  while (!items_.empty()) items_.front()->finish(why, events);
}

}  // namespace holdfast::memory
