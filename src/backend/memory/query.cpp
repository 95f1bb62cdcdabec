#include "backend/memory/query.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace holdfast::memory {

namespace {

constexpr std::int64_t turns_per_number = 1024;  // a token is number * 1024 + turn

// Every client of a store is in the process `me`.
holder describe(const entry& e, const member& m, time_point now, const core::process_identity& me) {
  using std::chrono::milliseconds;
  holder h;
  h.name = *e.name;
  h.owner = text_of(m.who);
  h.note = m.note;
  h.host = me.host;
  h.pid = me.pid;
  h.token = m.number * turns_per_number;
  h.held = std::chrono::floor<milliseconds>(now - m.since);
  const bool runs_out = m.lapses - now < forever / 2;
  h.left = runs_out ? std::chrono::floor<milliseconds>(m.lapses - now) : milliseconds::max();
  h.waiting = e.more ? static_cast<int>(e.more->queue.size()) : 0;
  return h;
}

void describe_all(const entry& e, time_point now, const core::process_identity& me,
                  std::vector<holder>& to) {
  if (e.held(now)) {
    const member alone{e.holder, e.number, 0, e.since, e.lapses, e.note};
    to.push_back(describe(e, alone, now, me));
  } else if (e.more) {
    for (const member& m : e.more->members) {
      if (m.lapses <= now) continue;
      holder h = describe(e, m, now, me);
      h.how = e.more->of == 0 ? lock_mode::shared : lock_mode::permit;
      h.permits = m.permits;
      h.of = e.more->of;
      to.push_back(std::move(h));
    }
  }
}

}  // namespace

// Owned by the list until it is answered, then by whoever tells the answer.
struct queries::item final : errand, news {
  explicit item(queries& q) noexcept : home(q) {}

  void at_store(store& s, time_point now, core::environment& env, outbox& out) override {
    if (broken) {
      if (!verdict) verdict = s.take_away(name, seen, now, env, out);
      return;
    }
    found.clear();
    const core::process_identity me = env.process();
    s.for_each([&](const entry& e) {
      if (all_that_begin_so ? e.name->starts_with(name) : *e.name == name)
        describe_all(e, now, me, found);
    });
  }

  void hear(const reply&, time_point, crier& cry) override { finish({}, cry); }

  // An inspection may be asked again without harm; so may a verdict, which is kept at the store.
  void wake(time_point now, crier& cry) override {
    if (now >= until) return finish(broken ? errc::outcome_unknown : errc::unavailable, cry);
    ask(now, cry);
  }

  void ask(time_point now, crier& cry) {
    const time_point again = now + (until - now) / 2;
    home.wire_.wake_at(*this, until - again < std::chrono::milliseconds{1} ? until : again);
    home.wire_.send(*this, now, cry);
  }

  void finish(errc why, crier& cry) {
    home.wire_.forget(*this);
    failed = why;
    (void)place->release();  // the list holds it no more; the crier ends it
    home.items_.erase(place);
    cry.post(*this, tell::ended);
  }

  void say(tell) override {
    std::stable_sort(found.begin(), found.end(),
                     [](const holder& a, const holder& b) { return a.name < b.name; });
    if (failed == errc{}) {
      if (shown) shown->found(std::move(found));
      if (broken) broken->decided(*verdict);
    } else {
      core::failure why{make_error_code(failed), "the memory store did not answer within the "
                                                 "op-timeout; is it in an outage?"};
      if (shown)
        shown->failed(std::move(why));
      else
        broken->failed(std::move(why));
    }
    retire();
  }
  void give_back() noexcept override { delete this; }

  queries& home;
  core::inspection* shown = nullptr;
  core::verdict* broken = nullptr;
  std::string name;
  bool all_that_begin_so = false;  // the name is a prefix
  holder_seen seen;
  time_point until{};
  std::vector<holder> found;
  std::optional<bool> verdict;
  errc failed{};
  std::list<std::unique_ptr<item>>::iterator place;
};

queries::queries(link& wire) noexcept : wire_(wire) {}
queries::~queries() = default;

void queries::start(std::unique_ptr<item> made) {
  crier cry;
  const time_point now = wire_.env().now();
  {
    const std::lock_guard guard(wire_.at().mutex);
    item& i = *made;
    i.until = core::saturating_add(now, wire_.rules().op_timeout);
    items_.push_front(std::move(made));
    i.place = items_.begin();
    i.ask(now, cry);
  }
  cry.tell_all();
}

void queries::inspect(std::string_view prefix, core::inspection& to) {
  auto made = std::make_unique<item>(*this);
  made->shown = &to;
  made->name = prefix;
  made->all_that_begin_so = true;
  start(std::move(made));
}

void queries::holders(std::string_view name, core::inspection& to) {
  auto made = std::make_unique<item>(*this);
  made->shown = &to;
  made->name = name;
  start(std::move(made));
}

void queries::break_lock(std::string_view name, const holder_seen& seen, core::verdict& to) {
  auto made = std::make_unique<item>(*this);
  made->broken = &to;
  made->name = name;
  made->seen = seen;
  start(std::move(made));
}

void queries::fail_all(errc why, crier& cry) {
  while (!items_.empty()) items_.front()->finish(why, cry);
}

}  // namespace holdfast::memory
