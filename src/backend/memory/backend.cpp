#include "backend/memory/backend.hpp"

#include "backend/memory/shared_servers.hpp"
#include "backend/memory/shifted_environment.hpp"
#include "base/fail.hpp"
#include "seam/own_options.hpp"

namespace holdfast::memory {

namespace {

constexpr seam::capabilities abilities_with_ttl{
    .life = seam::lifetime::ttl,
    .queue = seam::order::fifo,
    .contention = seam::contention_signal::push,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared) |
             seam::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = false,
    .processes = false,
    .breakable = true,
    .writer_preference = true,
    .downgrade = true,
};

constexpr seam::capabilities abilities_without_ttl = [] {
  seam::capabilities c = abilities_with_ttl;
  c.life = seam::lifetime::process;
  return c;
}();

}  // namespace

settings read_settings(const seam::open_args& o) {
  constexpr double dice_max = 9007199254740992.0;  // 2^53
  settings out;
  seam::own_options own(o);
  own.read("lifetime", [&](const std::string& value) {
    out.runs_out = value == "ttl";
    if (!out.runs_out && value != "process")
      own.refuse("lifetime is \"" + value + "\"; give ttl or process");
  });
  own.time("latency", out.faults.latency);
  out.faults.lose_requests = own.number("lose-requests", 0, 0, 1);
  out.faults.lose_replies = own.number("lose-replies", 0, 0, 1);
  own.read("seed", [&](std::string_view value) {
    out.faults.random_state =
        static_cast<std::uint64_t>(seam::parse_number(value, "seed", 0, dice_max));
  });
  own.time("stop-after", out.stop_after);
  own.refuse_others();
  return out;
}

seam::backend open(const seam::open_args& o) {
  if (!o.where.endpoints().empty() || !o.where.user().empty() || !o.password.empty())
    base::refuse_url(o.where,
                     "a memory store has no host, user or password: write memory: or memory:NAME");
  const settings own = read_settings(o);
  const std::string& name = o.where.path();
  auto store = name.empty() ? std::make_shared<server>() : shared_server(name);
  const timing rules{.op_timeout = o.shared.op_timeout,
                     .clock_skew = o.shared.clock_skew,
                     .outage_timeout = o.shared.outage_timeout,
                     .runs_out = own.runs_out};
  auto made = std::make_unique<backend>(std::move(store), o.env, rules);
  made->over().set_faults(own.faults);
  if (own.stop_after != duration::max())
    made->over().stop_after(base::saturating_add(o.env.now(), own.stop_after));
  return seam::backend_of(std::move(made));
}

base::environment& environment_of(const url& where) {
  if (where.path().empty()) return base::system_environment();
  return environment_of(where.path());
}

backend::backend(std::shared_ptr<server> s, base::environment& env, const timing& rules)
    : layout_(std::move(s), env, rules), queries_(layout_.over()) {}

backend::~backend() = default;

const seam::capabilities& backend::can() const noexcept {
  return layout_.rules().runs_out ? abilities_with_ttl : abilities_without_ttl;
}

std::unique_ptr<seam::claim> backend::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<claim>(layout_, name, sink);
}

seam::connection_status backend::status() {
  seam::connection_status out;
  out.connected = !is_unavailable();
  if (!out.connected)
    out.trouble = {errc::unavailable,
                   "the memory store is in an outage, or the client's requests are stopped"};
  return out;
}

void backend::break_lock(std::string_view name, std::string_view holder_id,
                         seam::decision_handler& to) {
  const auto seen = holder_seen_of(holder_id);
  if (!seen) return to.on_result(false);  // no holder in a memory store has such an id
  queries_.break_lock(name, seen, to);
}

void backend::diagnose(seam::findings_handler& to) {
  to.on_result({{"store", finding_grade::good,
                 "the locks are in the memory of this process: no diagnosis is needed", ""}});
}

bool backend::close(time_point until) {
  if (layout_.is_forked()) return false;
  event_queue events;
  bool is_clean = false;
  {
    std::unique_lock lock(layout_.mutex());
    while (!is_settled() && !event_queue::dispatching_here() && !over().is_mute() &&
           over().wait(lock, until)) {}
    is_clean = is_settled();
    layout_.close(events);
    queries_.fail_all(errc::closed, events);
  }
  events.dispatch();
  // The core may destroy the sinks then.
  event_queue::await_dispatch([this] { return is_dispatching(); });
  return is_clean;
}

bool backend::is_dispatching() const {
  const std::lock_guard guard(layout_.mutex());
  return layout_.is_dispatching();
}

}  // namespace holdfast::memory
