#include "backend/redis/backend.hpp"

#include <thread>

#include "backend/redis/claim.hpp"
#include "backend/redis/layouts/string/queries.hpp"
#include "base/fail.hpp"

namespace holdfast::redis {

namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::ttl,
    .queue = core::order::fifo,
    .wanted = core::wanted_by::push,
    .modes = core::bit_of(lock_mode::exclusive) | core::bit_of(lock_mode::shared) |
             core::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
    .shown_by_renewal = true,
    .downgrade = true,
};

}  // namespace

std::unique_ptr<core::backend> open(const core::opening& o) {
  auto made = std::make_unique<backend>(o.env, read_settings(o));
  made->connect(o.stop);
  return made;
}

backend::backend(core::environment& env, settings s) : link_(env, std::move(s)) {}

const core::capabilities& backend::can() const noexcept { return abilities; }

std::string backend::name_fault(std::string_view name) const {
  return std::string(key_fault(link_.how().prefix + std::string(name)));
}

std::unique_ptr<core::claim> backend::open(std::string_view name, core::claim_sink& sink) {
  return std::make_unique<claim>(link_, link_.how().prefix + std::string(name), sink);
}

void backend::inspect(std::string_view prefix, core::holders_handler& to) {
  start_inspection(link_, prefix, to);
}

void backend::holders(std::string_view name, core::holders_handler& to) {
  start_look_at_one(link_, name, to);
}

void backend::break_lock(std::string_view name, std::string_view seen, core::decision_handler& to) {
  start_breaking(link_, link_.how().prefix + std::string(name), seen, to);
}

void backend::write_guarded(const core::guarded_write& what, core::decision_handler& to) {
  start_guarded_write(link_, what, to);
}

bool backend::close(time_point until) {
  if (link_.is_forked()) return false;
  link_.settle(until);
  core::event_queue events;
  bool is_clean = false;
  {
    const std::lock_guard guard(link_.mutex());
    const time_point now = link_.env().now();
    link_.claims().for_each(
        [&](claim& c) { c.give_up(errc::closed, "the client was closed", now, events); });
    is_clean = link_.orphans().empty();  // a claim that just failed may have been added
  }
  events.dispatch();
  link_.flush();
  // What another thread has begun to tell is told before the core takes its sinks away.
  while (!core::event_queue::dispatching_here() && is_telling()) std::this_thread::yield();
  return is_clean;
}

bool backend::is_telling() {
  const std::lock_guard guard(link_.mutex());
  bool telling = false;
  link_.claims().for_each([&](const claim& c) { telling = telling || c.is_dispatching(); });
  return telling;
}

}  // namespace holdfast::redis
