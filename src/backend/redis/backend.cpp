#include "backend/redis/backend.hpp"

#include <utility>

#include "backend/redis/diagnosis/diagnosis.hpp"
#include "backend/redis/layouts/layouts.hpp"
#include "backend/redis/topologies/cluster/cluster.hpp"
#include "backend/redis/topologies/independent.hpp"
#include "backend/redis/topologies/sentinel/sentinel.hpp"
#include "backend/redis/topologies/single.hpp"
#include "base/fail.hpp"

namespace holdfast::redis {

using base::failure;

class backend::first_connections final : public io::blocking_wait {
 public:
  first_connections(topology& t, time_point until) noexcept
      : io::blocking_wait(until), topology_(t) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    if (topology_.is_open()) return failure();
    if (failure why = topology_.why_not_open(is_overdue); why.code) return why;
    return std::nullopt;
  }
  topology& topology_;
};

namespace {

class last_replies final : public io::blocking_wait {
 public:
  last_replies(const io::client_reactor& r, const layout_family& l, time_point until) noexcept
      : io::blocking_wait(until), reactor_(r), layouts_(l) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    const bool is_last = reactor_.waiting() == 1;  // the thread that waits for this is counted too
    if (is_overdue || (is_last && layouts_.is_settled())) return failure();
    return std::nullopt;
  }
  const io::client_reactor& reactor_;
  const layout_family& layouts_;
};

std::unique_ptr<topology> make_topology(io::client_reactor& r, const settings& s) {
  if (s.is_cluster()) return std::make_unique<cluster>(r, s, every_script());
  if (!s.sentinels.empty()) return std::make_unique<sentinel>(r, s, every_script());
  if (s.servers.empty()) return std::make_unique<single>(r, s, every_script());
  return std::make_unique<independent>(r, s.servers, every_script());
}

}  // namespace

seam::store_family names_of(const settings& s) {
  if (s.layout == layout_of_redlock)
    return {"Redlock", ": open one of these servers as redis:, which has every kind of lock"};
  return {"layout " + s.layout, std::string(other_kinds)};
}

seam::backend open(const seam::open_args& o) {
  auto made = std::make_unique<backend>(o.env, read_settings(o));
  made->begin_open();
  if (base::failure why = made->await_open(o.stop); why.code)
    throw lock_error(why.code, {"open", {}, made->text(), std::move(why.text)});
  const seam::store_family stores = made->stores();
  return {std::move(made), stores};
}

backend::backend(base::environment& env, settings s)
    : settings_(std::move(s)),
      reactor_(env, {"holdfast-redis", "holdfast-io", "holdfast-hold"}, settings_.text),
      layouts_(make_layouts(reactor_, settings_), names_of(settings_)),
      topology_(make_topology(reactor_, settings_)) {
  const std::lock_guard guard(reactor_.mutex());
  reactor_.log().write_to(settings_.log);
  layouts_.attach(*topology_);
}

backend::~backend() {
  if (opening_) reactor_.abandon(*opening_);
  reactor_.stop();
  const std::lock_guard guard(reactor_.mutex());
  layouts_.for_each([](layout& l) { l.detach(); });
}

void backend::begin_open() {
  const time_point now = reactor_.env().now();
  opening_ =
      std::make_unique<first_connections>(*topology_,
                                          base::saturating_add(now, settings_.rules.op_timeout));
  {
    const std::lock_guard guard(reactor_.mutex());
    reactor_.begin(*opening_);
    topology_->open(now);
  }
  if (base::caller_driver* const d = driver()) d->attend();
}

base::failure backend::await_open(std::stop_token stop) {
  const auto opening = std::move(opening_);
  if (driver()) {
    reactor_.wait(*opening, std::move(stop));
  } else {
    reactor_.abandon(*opening);  // this thread is not to block
  }
  return opening->why();
}

void backend::note_unreached(const failure& why) {
  const std::lock_guard guard(reactor_.mutex());
  for (transport* t : topology_->nodes()) t->note_refusal(why.text, reactor_.env().now());
}

backend::reached_server backend::first_server() {
  const std::lock_guard guard(reactor_.mutex());
  const transport& t = first_node();
  return {base::text_of(t.where().where), t.run_id(), t.where().database};
}

// Waits until nothing is left unanswered, or until then.
void backend::settle(time_point until) {
  last_replies w(reactor_, layouts_, until);
  {
    const std::lock_guard guard(reactor_.mutex());
    if ((reactor_.waiting() == 0 && layouts_.is_settled()) || !driver()) return;
    reactor_.begin(w);
    // The time to close is short: neither a back-off nor a pause after a refusal is waited for.
    const time_point now = reactor_.env().now();
    for (transport* t : topology_->nodes()) t->retry_now(lane::commands, now);
    layouts_.for_each([now](layout& l) { l.withdraw_all(now); });
  }
  flush();
  reactor_.wait(w);
}

void backend::diagnose(seam::findings_handler& to) {
  if (settings_.servers.empty() && !settings_.is_cluster()) {
    std::vector<finding> of_topology;
    {
      const std::lock_guard guard(reactor_.mutex());
      of_topology = topology_->findings();
    }
    return start_diagnosis(*topology_->nodes().front(), settings_, layouts_.needs(), false, to,
                           std::move(of_topology));
  }
  std::vector<transport*> nodes;
  std::vector<std::string> names;
  {
    const std::lock_guard guard(reactor_.mutex());
    nodes = topology_->with_keys();
    for (const transport* t : nodes) names.push_back(base::text_of(t->where().where));
  }
  start_diagnosis(nodes, names, settings_, layouts_.needs(), settings_.is_cluster(), to);
}

bool backend::close(time_point until) {
  if (reactor_.is_forked()) return false;
  settle(until);
  base::event_queue events;
  bool is_clean = false;
  {
    const std::lock_guard guard(reactor_.mutex());
    const time_point now = reactor_.env().now();
    layouts_.for_each(
        [&](layout& l) { l.end_claims(errc::closed, "the client was closed", now, events); });
    is_clean = layouts_.is_settled();  // a claim that just failed may have left something
  }
  events.dispatch();
  flush();
  // The core takes its sinks away then.
  base::event_queue::await_dispatch([this] { return is_dispatching(); });
  return is_clean;
}

bool backend::is_dispatching() {
  const std::lock_guard guard(reactor_.mutex());
  return layouts_.is_dispatching();
}

seam::connection_status backend::status() {
  const std::lock_guard guard(reactor_.mutex());
  return topology_->status();
}

void backend::retry_now() noexcept {
  if (reactor_.is_forked()) return;
  const std::lock_guard guard(reactor_.mutex());
  if (reactor_.is_stopped()) return;
  const time_point now = reactor_.env().now();
  layouts_.for_each([now](layout& l) { l.retry_now(now); });
}

}  // namespace holdfast::redis
