#include "backend/zookeeper/backend.hpp"

#include <utility>

#include "backend/zookeeper/diagnosis/diagnosis.hpp"
#include "backend/zookeeper/layouts/layouts.hpp"

namespace holdfast::zookeeper {

seam::backend open(const seam::open_args& o) {
  auto made = std::make_unique<backend>(o.env, read_settings(o));
  made->connect(o.stop);
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

backend::backend(base::environment& env, settings s)
    : settings_(std::move(s)),
      env_(env),
      layouts_(make_layouts(env, settings_),
               {"layout " + settings_.layout, std::string(other_kinds)}),
      over_(env, settings_, layouts_) {
  const std::lock_guard guard(over_.mutex());
  layouts_.attach(over_);
}

backend::~backend() {
  over_.stop();
  const std::lock_guard guard(over_.mutex());
  layouts_.detach();
}

// The end of the session removes its nodes: nothing else is to be waited for.
bool backend::close(time_point until) {
  if (over_.is_forked()) return false;
  const bool is_clean = over_.close(until);
  base::event_queue events;
  {
    const std::lock_guard guard(over_.mutex());
    layouts_.end_claims(errc::closed, "the client was closed", env_.now(), events);
  }
  events.dispatch();
  // The core takes its sinks away then.
  base::event_queue::await_dispatch([this] { return is_dispatching(); });
  return is_clean;
}

bool backend::is_dispatching() {
  const std::lock_guard guard(over_.mutex());
  return layouts_.is_dispatching();
}

seam::connection_status backend::status() {
  const std::lock_guard guard(over_.mutex());
  return over_.read_status();
}

void backend::retry_now() noexcept {
  if (over_.is_forked()) return;
  const std::lock_guard guard(over_.mutex());
  over_.retry_now(env_.now());
}

void backend::diagnose(seam::findings_handler& to) {
  if (!over_.driver())
    return to.on_failed({errc::unsupported, "a diagnosis blocks, and this thread must not block"});
  duration granted;
  {
    const std::lock_guard guard(over_.mutex());
    granted = over_.of_session().deadline().timeout();
  }
  to.on_result(diagnose_ensemble(env_, settings_, granted));
}

}  // namespace holdfast::zookeeper
