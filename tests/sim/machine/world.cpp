#include "tests/sim/machine/world.hpp"

#include <holdfast/log.hpp>

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tests/sim/machine/network.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t events_max = 400'000;
constexpr int last_rounds = 4;

thread_local world* of_this_thread = nullptr;

void hear_warning(log_level, std::string_view line, void*) {
  if (of_this_thread) of_this_thread->warned(line);
}

}  // namespace

world::world(const plan& p, const world_parts& parts, recording r, std::ostream* trace)
    : schedule(p),
      chance(p.seed),
      excused(*this, p.locks),
      store(parts.store(*this)),
      watch(parts.judge(*this, *store)),
      judged_(watch->rules()),
      recording_(r),
      trace_(trace),
      chance_of_writes_(p.seed ^ 0x6c616e6473),
      resources_(static_cast<std::size_t>(p.locks)) {
  set_log_hook(hear_warning);
  wait_limit_ = 10s +
                (p.ttl + p.hold_max) * (processes_max() * p.users * (p.rounds + 2)) *
                    (p.several ? p.locks : 1) +
                store->window_of_waiter() * (processes_max() * p.users) + store->recovery_max();
  for (int i = 0; i < p.clients; ++i) open_client();
  of_this_thread = this;  // what a layout says of itself when it is opened is no warning of trouble
  for (const fault& f : p.faults) time.at(f.at, [this, f] { happen(f); });
  for (int i = 0; i < p.inspections; ++i)
    time.at(chance.between(0ns, p.troubled), [this] { inspect(); });
  for (int i = 0; i < p.prunings; ++i)
    time.at(chance.between(0ns, p.troubled), [this] { prune(); });
}

world::~world() {
  for (process& p : processes_) {
    p.where->die();
    for (const auto& u : p.users) u->end();
    p.runs.reset();
  }
  of_this_thread = nullptr;
}

moment world::delay() {
  moment d = chance.between(schedule.delay_min, schedule.delay_max);
  if (schedule.slow_share > 0 && !is_calm_ && chance.chance(schedule.slow_share))
    d *= chance.between(2, 10);
  return d;
}

// Longer than a client waits for a connection, or not.
moment world::delay_of_connect() {
  const bool is_slow = time.now() < connects_slowly_until_;
  return is_slow ? chance.between(moment(0), moment(schedule.op_timeout * 3 / 2)) : moment(0);
}

bool world::greets_in_part() { return time.now() < greets_in_part_until_ && chance.chance(0.5); }

std::vector<std::string> world::lock_names() const {
  std::vector<std::string> out;
  for (int i = 0; i < schedule.locks; ++i) out.push_back(lock_name(i));
  return out;
}

std::shared_ptr<pipe> world::make_pipe(machine& m, sim_loop& l, base::stream_events& e,
                                       const std::string& host) {
  std::erase_if(m.pipes(), [](const auto& p) { return p->may_be_forgotten(); });
  auto made = std::make_shared<pipe>(*this, m, l, e, ++pipes_, host);
  m.pipes().push_back(made);
  return made;
}

void world::serve(pipe& p, std::string_view bytes) {
  watch->about_to_serve(p, bytes);
  store->receive(p.handle(), bytes);
  watch->after_server(&p);
}

void world::disconnect(pipe& p) {
  store->disconnect(p.handle());
  record(event::end_seen, {p.number()},
         [&] { return "the server sees the end of connection " + std::to_string(p.number()); });
}

void world::warned(std::string_view line) {
  warned_ = true;
  record(event::warning, {}, [&] { return "warning: " + std::string(line); });
}

void world::complain(rule r, const std::string& what_happened) {
  applied_.add(r);
  if (!is_content()) return;
  complaint_.append(name_of(r)).append(": ").append(what_happened);
  record(event::violation, {name_of(r)}, [&] { return "VIOLATION: " + complaint_; });
}

void world::add_to_digest(event what, std::initializer_list<fact> facts) noexcept {
  digest_.add(static_cast<std::uint64_t>(time.now().count()));
  digest_.add(static_cast<std::uint64_t>(what));
  for (const fact& f : facts) f.is_text ? digest_.add(f.text) : digest_.add(f.number);
}

void world::print(const std::string& text) {
  char at[32];
  std::snprintf(at, sizeof at, "%12.3f ms  ", static_cast<double>(time.now().count()) / 1e6);
  *trace_ << at << text << '\n';
}

void world::run_until(moment end) {
  while (is_content() && time.next_at() <= end && time.step()) {
    watch->after_event();
    check_bounds();
    if (judges(rule::rest) && time.done() > events_max)
      complain(rule::rest, "it never comes to rest");
  }
}

result world::run() {
  play_to_the_end();
  return {complaint_, time.now(), time.done(), digest_.value(), excused.share(), judged_, applied_};
}

// The thread must be answered, even when nothing is judged any more: its wait has an end.
void world::run_until(const base::parker& blocked) {
  while (!blocked.signalled() && time.step()) {
    if (!is_content()) continue;
    watch->after_event();
    if (time.done() > events_max) complain(rule::rest, "it never comes to rest");
  }
}

// A wait that a lost message or a refusal has made long is played to its end in one of eight.
bool world::serve_all() {
  const bool to_the_end = chance.chance(0.125);
  const moment soon = time.now() + schedule.ttl * 8 + 3s;
  while (is_content() && !all_served()) {
    if (!to_the_end && time.now() > soon) return false;
    if (time.next_at() == moment::max()) {
      complain(rule::served, "nothing happens any more");
      return false;
    }
    run_until(time.next_at());
    check_waits();
  }
  return is_content();
}

void world::play_to_the_end() {
  run_until(schedule.troubled);
  heal();
  if (serve_all()) {
    play_last_act();
    // The last releases are answered, and no lock lingers any more.
    const moment lingers = std::min(schedule.linger, schedule.ttl * 2);
    run_until(time.now() + 500ms + schedule.op_timeout * 2 + lingers);
    // A hand-over is for 250 ms at least, and its first renewal opens a connection.
    const int trips = store->trips_of_renewal() * (schedule.slow_share > 0 ? 10 : 1);
    const bool is_quick = schedule.delay_max * trips < std::min<moment>(schedule.ttl, 250ms);
    if (schedule.is_quiet() && is_quick && judges(rule::warned) && warned_)
      complain(rule::warned, "though there was no trouble");
  }
  if (is_content()) close_all();
}

// When all have recovered, every living user requests its lock once more. Nothing is excused.
void world::play_last_act() {
  if (!is_content() || schedule.is_quiet()) return;
  is_calm_ = true;
  // Leases and windows of crashed clients have ended by then.
  const auto recovered = [this] { return std::max(excused.limit(), healed_at_ + lease_max()); };
  while (is_content() && time.now() < recovered()) {
    const moment end = recovered();
    run_until(end);
    time.pass_to(end);
  }
  watch->begin_last_act();
  const int users =
      processes_max() * schedule.users * (schedule.several ? schedule.locks : 1) * last_rounds;
  wait_limit_ = 1s + (hold_max() * 2 + watch->free_max() + schedule.delay_max * 20) * users +
                store->window_of_waiter() * users;
  healed_at_ = time.now();
  for (process& p : processes_)
    for (const auto& u : p.users)
      if (!p.where->is_dead())
        for (int n = 0; n < last_rounds; ++n) u->one_more();
  while (is_content() && !all_served()) {
    if (time.next_at() == moment::max()) return complain(rule::served, "nothing happens any more");
    run_until(time.next_at());
    check_waits();
  }
}

result play(const plan& p, const world_parts& parts, std::ostream* trace, recording r) {
  return world(p, parts, r, trace).run();
}

}  // namespace holdfast::sim
