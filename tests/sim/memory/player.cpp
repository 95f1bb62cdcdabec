#include "tests/sim/memory/player.hpp"

#include <holdfast/memory.hpp>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "seam/registry.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/sim/machine/dice.hpp"
#include "tests/sim/machine/digest.hpp"
#include "tests/sim/memory/actor.hpp"

namespace holdfast::sim {

namespace {

using namespace std::chrono_literals;
using state = memory_actor::state;

// The clock is moved by hand; how much was drawn is known.
class counting_environment final : public base::environment {
 public:
  explicit counting_environment(std::uint64_t seed) : inside(seed) {}
  base::time_point now() noexcept override { return inside.now(); }
  std::chrono::microseconds wall() noexcept override { return inside.wall(); }
  void random(std::span<std::byte> out) noexcept override {
    drawn += out.size();
    inside.random(out);
  }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* name) override {
    return inside.make_alarm(t, name);
  }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return inside.make_worker(name);
  }
  base::process_identity process() override { return {"machine", 1000}; }

  testkit::manual_environment inside;
  std::size_t drawn = 0;
};

seam::backend open_store(const std::string& text, base::environment& env) {
  const url where = url::parse(text);
  std::vector<url::option> own;
  const seam::client_options shared = seam::read_client_options(where, own);
  for (const seam::scheme& s : seam::schemes())
    if (s.name == where.scheme() && s.open) return s.open({where, shared, own, {}, env});
  throw std::logic_error("this build has no memory store");
}

class memory_player final : private memory_log {
 public:
  memory_player(std::uint64_t seed, std::ostream* trace);
  ~memory_player();
  void play();
  std::uint64_t value() const noexcept { return digest_.value(); }

 private:
  // Answers come later where there are faults: kept until the end.
  struct answer final : seam::holders_handler, seam::decision_handler {
    explicit answer(memory_player& p) noexcept : home(p) {}
    void on_result(std::vector<holder>) override;
    void on_result(bool yes) override { home.note(yes ? "was broken" : "was not broken"); }
    void on_failed(base::failure f) override {
      home.note("has no answer, " + std::to_string(f.code.value()));
    }
    memory_player& home;
  };

  void note(const std::string&) override;
  answer& new_answer() { return *answers_.emplace_back(std::make_unique<answer>(*this)); }
  seam::acquire_request some_ask(const memory_actor&);
  memory_actor* pick(state);
  memory_actor* idle_beside(const memory_actor&);
  void act();
  void act_held(memory_actor&);
  void ask_for_all();
  void make_trouble();
  void pass_time();
  void look();
  void heal();

  dice dice_;
  std::ostream* const trace_;
  digest digest_;
  counting_environment env_;
  memory_store store_;
  std::vector<seam::backend> clients_;
  std::vector<std::unique_ptr<memory_actor>> actors_;
  std::vector<std::unique_ptr<answer>> answers_;
};

memory_player::memory_player(std::uint64_t seed, std::ostream* trace)
    : dice_(seed * 2 + 1), trace_(trace), env_(seed), store_("digest") {
  constexpr const char* faults[] = {"", "&latency=3ms", "&lose-replies=0.2&seed=7",
                                    "&lose-requests=0.2&latency=20ms&seed=9"};
  constexpr const char* names[] = {"shared", "permits", "x", "y", "x"};
  int number = 0;
  for (int client = dice_.between(2, 4); client > 0; --client) {
    const std::string more = dice_.chance(0.4) ? faults[dice_.below(4)] : "";
    clients_.push_back(open_store(store_.url() + "?op-timeout=4s" + more, env_));
    for (const char* const name : names)
      actors_.push_back(std::make_unique<memory_actor>(clients_.back().stores.first(), name, client,
                                                       ++number, static_cast<memory_log&>(*this)));
  }
}

memory_player::~memory_player() {
  for (const auto& c : clients_) c.connection->close(env_.now());
  for (const auto& a : actors_) a->close();
  clients_.clear();
}

void memory_player::note(const std::string& line) {
  digest_.add(static_cast<std::uint64_t>(env_.now().time_since_epoch().count()));
  digest_.add(line);
  if (trace_) *trace_ << env_.now().time_since_epoch().count() << "  " << line << '\n';
}

void memory_player::answer::on_result(std::vector<holder> all) {
  std::string line = "found";
  for (const holder& h : all)
    line += ' ' + h.name + ' ' + h.owner + ' ' + h.note + ' ' + std::to_string(h.token) + ' ' +
            std::to_string(h.permits) + ' ' + std::to_string(h.held_for.count()) + ' ' +
            std::to_string(h.expires_in.count()) + ' ' + std::to_string(h.waiting);
  home.note(line);
}

seam::acquire_request memory_player::some_ask(const memory_actor& a) {
  seam::acquire_request how;
  how.one_attempt = dice_.chance(0.3);
  constexpr base::duration ttls[] = {100ms, 1s, 10s};
  how.ttl = ttls[dice_.below(3)];
  if (dice_.chance(0.2)) how.note = "a note";
  if (a.name() == "shared" && dice_.chance(0.7)) how.mode = lock_mode::shared;
  if (a.name() == "permits") {
    how.mode = lock_mode::permit;
    how.permits = static_cast<std::uint32_t>(dice_.between(1, 2));
    how.total_permits = dice_.chance(0.95) ? 3 : 2;
  }
  how.at = env_.now();
  return how;
}

memory_actor* memory_player::pick(state s) {
  const std::size_t first = dice_.below(actors_.size());
  for (std::size_t i = 0; i < actors_.size(); ++i) {
    memory_actor& a = *actors_[(first + i) % actors_.size()];
    if (a.now() == s) return &a;
  }
  return nullptr;
}

memory_actor* memory_player::idle_beside(const memory_actor& held) {
  for (const auto& a : actors_)
    if (a->now() == state::idle && a->client() == held.client() && a->name() == held.name())
      return a.get();
  return nullptr;
}

void memory_player::act() {
  const auto drawn = dice_.below(20);
  if (drawn < 6) {
    if (memory_actor* const a = pick(state::idle)) a->acquire(some_ask(*a));
  } else if (drawn < 12) {
    if (memory_actor* const a = pick(state::held)) act_held(*a);
  } else if (drawn == 12) {
    if (memory_actor* const a = pick(state::asking)) a->cancel();
  } else if (drawn == 13) {
    ask_for_all();
  } else if (drawn == 14) {
    make_trouble();
  } else {
    pass_time();
  }
}

void memory_player::act_held(memory_actor& a) {
  const auto drawn = a.is_lost() ? 9 : dice_.below(10);
  if (drawn < 4) return a.renew(dice_.chance(0.5) ? 1s : 10s);
  if (drawn == 4 && a.name() == "shared" && a.may_downgrade()) return a.downgrade();
  if (drawn == 5)
    return clients_[dice_.below(clients_.size())].stores.break_lock(a.name(), a.owner(),
                                                                    new_answer());
  memory_actor* const next = dice_.chance(0.4) ? idle_beside(a) : nullptr;
  a.release(next, some_ask(next ? *next : a));
}

// Several claims of one client on different locks; now and then one of them never comes.
void memory_player::ask_for_all() {
  memory_actor* const first = pick(state::idle);
  if (!first) return;
  std::vector<memory_actor*> all;
  for (const auto& a : actors_) {
    const bool is_new =
        std::none_of(all.begin(), all.end(), [&](const auto* b) { return b->name() == a->name(); });
    if (a->client() == first->client() && a->now() == state::idle && is_new &&
        (a->name() == "x" || a->name() == "y" || a->name() == "shared"))
      all.push_back(a.get());
  }
  if (all.size() < 2) return;
  seam::acquire_request how{.one_attempt = true, .ttl = 1s};
  how.group = seam::lock_group::of(static_cast<std::uint32_t>(all.size()));
  how.at = env_.now();
  if (dice_.chance(0.2)) all.pop_back();
  for (memory_actor* const a : all) a->acquire(how);
}

void memory_player::make_trouble() {
  const auto what = dice_.below(11);
  note("trouble " + std::to_string(what));
  switch (what) {
    case 0: return store_.set_latency(std::chrono::milliseconds(dice_.between(0, 50)));
    case 1: return store_.set_latency(0ms);
    case 2: return store_.lose_requests(static_cast<std::uint32_t>(dice_.between(1, 3)));
    case 3: return store_.lose_replies(static_cast<std::uint32_t>(dice_.between(1, 3)));
    case 4: return store_.lose_at_random(dice_.next(), dice_.share() / 2, dice_.share() / 2);
    case 5: return store_.begin_outage();
    case 6: return store_.end_outage();
    case 7: return store_.snapshot();
    case 8: return store_.fail_over();
    case 9: return store_.restart_empty();
    default: note(store_.remove("x") ? "x was removed" : "x was free"); return;
  }
}

void memory_player::pass_time() {
  const auto how = dice_.below(8);
  if (how == 0) return env_.inside.freeze(dice_.between(0ns, 3s));
  if (how < 4) return env_.inside.advance(dice_.between(0ns, 2s));
  if (how == 4) return env_.inside.advance(dice_.between(0ns, 30ms));
  (void)env_.inside.advance_to_next_alarm();
}

void memory_player::look() {
  note("next alarm " + std::to_string(env_.inside.next_alarm().time_since_epoch().count()) +
       ", drawn " + std::to_string(env_.drawn));
}

void memory_player::heal() {
  store_.end_outage();
  store_.set_latency(0ms);
  store_.lose_requests(0);
  store_.lose_replies(0);
  store_.lose_at_random(0, 0, 0);
  for (const auto& a : actors_)
    if (a->now() == state::asking) a->cancel();
  env_.inside.advance(10s);
  for (const auto& a : actors_)
    if (a->now() == state::held) a->release(nullptr, {});
  env_.inside.advance(5min);
  for (const auto& a : actors_)
    if (a->now() != state::idle) note("claim of " + a->name() + " is not idle at the end");
}

void memory_player::play() {
  for (int steps = dice_.between(50, 300); steps > 0; --steps) {
    act();
    look();
    if (dice_.chance(0.1)) clients_.front().stores.inspect({}, new_answer());
  }
  heal();
  clients_.front().stores.inspect({}, new_answer());
}

}  // namespace

std::uint64_t play_memory(std::uint64_t seed, std::ostream* trace) {
  memory_player p(seed, trace);
  p.play();
  return p.value();
}

}  // namespace holdfast::sim
