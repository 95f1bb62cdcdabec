#include "backend/redis/backend.hpp"

#include <utility>

#include "backend/redis/examination/examination.hpp"
#include "backend/redis/layouts/layouts.hpp"
#include "backend/redis/topologies/single.hpp"
#include "base/fail.hpp"

namespace holdfast::redis {

std::unique_ptr<core::backend> open(const core::opening& o) {
  auto made = std::make_unique<backend>(o.env, read_settings(o));
  made->connect(o.stop);
  return made;
}

backend::backend(core::environment& env, settings s)
    : settings_(std::move(s)),
      group_(env, settings_.text),
      layout_(make_layout(settings_.layout, group_, settings_)),
      topology_(std::make_unique<single>(group_, settings_, *layout_, layout_->scripts())),
      node_(*topology_->nodes().front()) {
  const std::lock_guard guard(group_.mutex());
  layout_->attach(*topology_);
}

backend::~backend() {
  group_.stop();
  const std::lock_guard guard(group_.mutex());
  layout_->detach();
}

void backend::connect(std::stop_token stop) {
  blocking_wait w;
  const time_point now = group_.env().now();
  w.until = core::saturating_add(now, settings_.rules.op_timeout);
  {
    const std::lock_guard guard(group_.mutex());
    group_.begin(w);
    for (transport* t : topology_->nodes()) t->open(lane::commands, now);
  }
  if (!driver()) return group_.abandon(w);  // this thread is not to block
  group_.wait(w, std::move(stop));
  if (w.why.code) throw lock_error(w.why.code, {"open", {}, settings_.text, w.why.text, {}});
}

// Waits until nothing is left unanswered, or until then.
void backend::settle(time_point until) {
  blocking_wait w;
  w.until = until;
  w.for_the_end = true;
  {
    const std::lock_guard guard(group_.mutex());
    if ((!group_.has_waiting() && layout_->is_settled()) || !driver()) return;
    group_.begin(w);
    // The time to close is short: neither a back-off nor a pause after a refusal is waited for.
    const time_point now = group_.env().now();
    for (transport* t : topology_->nodes()) t->hurry(lane::commands, now);
    layout_->withdraw_all(now);
  }
  flush();
  group_.wait(w);
}

void backend::examine(core::findings_handler& to) {
  start_examination(node_, settings_, layout_->needs(), to);
}

bool backend::close(time_point until) {
  if (group_.is_forked()) return false;
  settle(until);
  core::event_queue events;
  bool is_clean = false;
  {
    const std::lock_guard guard(group_.mutex());
    layout_->end_claims(errc::closed, "the client was closed", group_.env().now(), events);
    is_clean = layout_->is_settled();  // a claim that just failed may have left something
  }
  events.dispatch();
  flush();
  // The core takes its sinks away then.
  core::event_queue::await_dispatch([this] { return is_dispatching(); });
  return is_clean;
}

bool backend::is_dispatching() {
  const std::lock_guard guard(group_.mutex());
  return layout_->is_dispatching();
}

core::reach backend::read_reach() {
  const std::lock_guard guard(group_.mutex());
  return node_.read_reach();
}

void backend::hurry() noexcept {
  if (group_.is_forked()) return;
  const std::lock_guard guard(group_.mutex());
  if (!group_.is_stopped()) layout_->hurry(group_.env().now());
}

}  // namespace holdfast::redis
