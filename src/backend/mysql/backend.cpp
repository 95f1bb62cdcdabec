#include "backend/mysql/backend.hpp"

#include <utility>

#include "backend/mysql/diagnosis/diagnosis.hpp"
#include "backend/mysql/strategies/strategies.hpp"

namespace holdfast::mysql {

namespace {

class last_replies final : public io::blocking_wait {
 public:
  last_replies(const io::client_reactor& r, const strategy& s, time_point until) noexcept
      : io::blocking_wait(until), reactor_(r), strategy_(s) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    const bool is_last = reactor_.waiting() == 1;  // the thread that waits for this is counted too
    if (is_overdue || (is_last && strategy_.is_settled())) return failure();
    return std::nullopt;
  }
  const io::client_reactor& reactor_;
  const strategy& strategy_;
};

}  // namespace

seam::backend open(const seam::open_args& o) { return open(o, {}); }

seam::backend open(const seam::open_args& o, const connector_maker& over) {
  auto made = std::make_unique<backend>(o.env, read_settings(o), over);
  made->connect(o.stop);
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

std::vector<std::string> schema(const seam::open_args& o) {
  const settings terms = read_settings(o);
  return make_strategy(o.env, terms)->schema();
}

backend::backend(base::environment& env, settings s, const connector_maker& over)
    : settings_(std::move(s)),
      strategy_(make_strategy(env, settings_)),
      over_(env, settings_, *strategy_, strategy_->connections(), over) {
  const std::lock_guard guard(over_.mutex());
  strategy_->attach(over_);
}

backend::~backend() {
  over_.stop();
  const std::lock_guard guard(over_.mutex());
  strategy_->detach();
}

// Waits until nothing is left unanswered, or until then.
void backend::settle(time_point until) {
  io::client_reactor& reactor = over_.reactor();
  last_replies w(reactor, *strategy_, until);
  {
    const std::lock_guard guard(over_.mutex());
    if ((reactor.waiting() == 0 && strategy_->is_settled()) || !driver()) return;
    reactor.begin(w);
    const time_point now = reactor.env().now();
    over_.retry_by(now);
    strategy_->withdraw_all(now);
  }
  flush();
  reactor.wait(w);
}

bool backend::close(time_point until) {
  if (over_.is_forked()) return false;
  settle(until);
  base::event_queue events;
  bool is_clean = false;
  {
    const std::lock_guard guard(over_.mutex());
    strategy_->end_claims(errc::closed, "the client was closed", over_.env().now(), events);
    is_clean = strategy_->is_settled();  // a claim that just failed may have left something
  }
  events.dispatch();
  flush();
  // The core takes its sinks away then.
  base::event_queue::await_dispatch([this] { return is_dispatching(); });
  return is_clean;
}

bool backend::is_dispatching() {
  const std::lock_guard guard(over_.mutex());
  return strategy_->is_dispatching();
}

seam::connection_status backend::status() {
  const std::lock_guard guard(over_.mutex());
  return over_.read_status();
}

void backend::retry_now() noexcept {
  if (over_.is_forked()) return;
  const std::lock_guard guard(over_.mutex());
  over_.retry_by(over_.env().now());
}

void backend::diagnose(seam::findings_handler& to) { start_diagnosis(over_, settings_, to); }

}  // namespace holdfast::mysql
