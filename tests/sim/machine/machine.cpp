#include "tests/sim/machine/machine.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

namespace {

// As the real one it may come a little late, and never early. An event that finds the alarm set for
// later is noted anew for then.
class sim_alarm final : public base::alarm {
 public:
  sim_alarm(machine& m, base::alarm_target& t)
      : machine_(m), armed_(std::make_shared<state>(state{&t})) {}
  ~sim_alarm() override { armed_->target = nullptr; }

  bool set(base::time_point t) noexcept override {
    armed_->due = t;
    if (t < armed_->noted) note(machine_, armed_);
    return true;
  }

 private:
  struct state {
    base::alarm_target* target;
    base::time_point due = base::never;
    base::time_point noted = base::never;  // when the next event comes for it
    std::uint64_t number = 0;              // of that event
  };

  static void note(machine& m, const std::shared_ptr<state>& armed) {
    armed->noted = armed->due;
    const auto number = ++armed->number;
    const moment at = std::max(m.when(armed->due), m.true_now()) + m.home().jitter();
    m.post(at, [armed, number, &m] {
      state& a = *armed;
      if (!a.target || a.number != number) return;
      a.noted = base::never;
      if (a.due == base::never) return;
      if (m.now() < a.due) return note(m, armed);
      a.due = base::never;
      a.target->on_alarm(m.now());
    });
  }

  machine& machine_;
  const std::shared_ptr<state> armed_;
};

class sim_worker final : public base::worker {
 public:
  // `draws`: when it begins a job is drawn; otherwise no dice are thrown.
  sim_worker(machine& m, bool draws)
      : machine_(m), draws_(draws), jobs_(std::make_shared<queue>()) {}
  ~sim_worker() override { run(*jobs_); }
  void post(std::function<void()> job) override {
    jobs_->push_back(std::move(job));
    const moment wait = draws_ ? machine_.home().jitter() : std::chrono::microseconds(100);
    machine_.post(machine_.true_now() + wait, [j = jobs_] { run(*j); });
  }

 private:
  using queue = std::deque<std::function<void()>>;
  static void run(queue& jobs) {
    while (!jobs.empty()) {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }
  machine& machine_;
  const bool draws_;
  const std::shared_ptr<queue> jobs_;
};

}  // namespace

machine::machine(world& w, int number, double rate, base::duration offset)
    : world_(w), driver_(w), number_(number), rate_(rate), offset_(offset) {}

void machine::closing_driver::run_until_signalled(base::parker& p) { home.run_until(p); }

moment machine::true_now() const noexcept { return world_.time.now(); }

base::time_point machine::now() noexcept { return local(stands_since_.value_or(true_now())); }

base::time_point machine::local(moment t) const noexcept {
  const auto passed = static_cast<std::int64_t>(static_cast<double>((t - stood_).count()) * rate_);
  return base::time_point(offset_ + base::duration(passed));
}

moment machine::when(base::time_point t) const noexcept {
  const auto passed = static_cast<double>((t.time_since_epoch() - offset_).count());
  moment out = stood_ + moment(static_cast<std::int64_t>(passed / rate_));
  while (local(out) < t) out += moment(1);
  return out;
}

std::chrono::microseconds machine::wall() noexcept {
  return std::chrono::floor<std::chrono::microseconds>(now().time_since_epoch());
}

void machine::random(std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    const std::uint64_t drawn = world_.chance.next();
    const std::size_t n = std::min(out.size(), sizeof drawn);
    std::memcpy(out.data(), &drawn, n);
    out = out.subspan(n);
  }
}

// The same wherever the schedule is played: these go over the wire.
base::process_identity machine::process() {
  return {"machine" + std::to_string(number_), 1000 + number_};
}

std::unique_ptr<base::alarm> machine::make_alarm(base::alarm_target& t, const char*) {
  return std::make_unique<sim_alarm>(*this, t);
}

// Notices of losses go to the judge alone: they change nothing else in a schedule.
std::unique_ptr<base::worker> machine::make_worker(const char* name) {
  return std::make_unique<sim_worker>(*this, std::string_view(name) != "holdfast-notice");
}

std::unique_ptr<base::event_loop> machine::make_loop(base::loop_user& u, base::driven_by by,
                                                     const char*) {
  return std::make_unique<sim_loop>(world_, *this, u, by);
}

void machine::post(moment at, deed what) {
  if (!dead_) world_.time.at(at, std::move(what), this);
}

bool machine::admits(deed& what) {
  if (dead_) return false;
  if (pauses_ > 0) held_back_.push_back(std::move(what));
  return pauses_ == 0;
}

void machine::stop_process() { ++pauses_; }

void machine::stop_with_its_clock() {
  if (!stands_since_) stands_since_ = true_now();
  stop_process();
}

void machine::resume() {
  if (pauses_ == 0 || --pauses_ > 0) return;
  if (stands_since_) {
    stood_ += true_now() - *stands_since_;
    world_.excused.stood(*this, *stands_since_);
    stands_since_.reset();
    world_.watch->went_on(*this);
  }
  resumed_at_ = true_now();
  std::deque<deed> due;
  due.swap(held_back_);
  for (auto& d : due) post(true_now(), std::move(d));
}

bool machine::awaits_renewals() const {
  bool awaits = false;
  for (const auto& p : pipes_)
    if (p->is_for_renewals()) awaits = !p->is_sound();
  return awaits;
}

// Where a client subscribes for its waiters, one that has none opens no connection for messages.
bool machine::needs_messages() const {
  if (world_.store->always_listens()) return true;
  for (int lock = 0; lock < world_.schedule.locks; ++lock)
    if (world_.users_waiting(lock, *this) > 0) return true;
  return false;
}

bool machine::is_connected() const {
  bool listened = false, listens = false, asks = false, confirms = false;
  const bool needs_each = world_.store->needs_each_connection();
  bool awaits_one = false;  // the server has refused a connection, and the client repeats it
  for (const auto& p : pipes_) {
    if (p->is_for_renewals() || p->is_beside()) continue;
    if (p->is_opening()) return false;
    const bool is_sound = p->is_sound();
    if (p->use().confirms) {
      confirms |= is_sound;
      continue;
    }
    if (p->alive() && !is_sound && needs_each) return false;
    (p->use().listens ? listens : asks) |= is_sound;
    listened |= p->use().listens || p->use().will_listen;
    // A client of an ensemble has one connection, and asks other servers for their roles.
    const bool was_refused = p->was_refused() && world_.schedule.tick == moment{};
    const bool is_in_use = is_sound && (p->use().asks || needs_each);
    awaits_one = was_refused || (awaits_one && !is_in_use);
  }
  if (world_.schedule.replicas > 0 && !confirms) return false;
  // Where the name may have moved, nothing is acquired until a lost connection is replaced.
  const bool may_have_moved = world_.schedule.has_two_servers_of_one_name() && !needs_each;
  if (may_have_moved && awaits_renewals()) return false;
  if (listened && !listens && !needs_messages()) listened = false;
  return asks && (listens || (!listened && !awaits_one));
}

void machine::die() noexcept {
  dead_ = true;
  held_back_.clear();
  for (const auto& p : pipes_) p->vanish();
}

}  // namespace holdfast::sim
