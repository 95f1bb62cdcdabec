// The base of all layouts: the claims, grouped by the paths of their locks, their requests in
// flight, and the effect of session events on them.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/claim_batch.hpp"
#include "backend/zookeeper/layouts/holders_query.hpp"
#include "backend/zookeeper/layouts/layout.hpp"
#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"
#include "backend/zookeeper/layouts/orphans.hpp"
#include "backend/zookeeper/settings.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

// The layout of a recipe derives from it and has what of claims::store_of is not here: submit(),
// renew_owner(), withdraw_orphan() and text_of_owner(). Batch derives from claim_batch.
template <class Protocol, class Batch>
class claims_layout : public layout, public claims::store_defaults {
 public:
  using claim = claims::store_claim<Protocol>;
  using recipe = typename Protocol::recipe;
  using event_queue = base::event_queue;

  // The settings outlive it.
  claims_layout(base::environment& env, const settings& s)
      : env_(env), settings_(s), process_(env.process()), claims_(s.rules) {}

  // layout
  std::string name_fault(std::string_view name) const override {
    return std::string(lock_name_fault(settings_.chroot, name));
  }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& sink) override {
    return std::make_unique<claim>(derived(), name, sink);
  }
  void inspect(std::string_view prefix, seam::holders_handler& to) override {
    start_holders_query(prefix, query_scope::all_that_begin_so, to);
  }
  void holders(std::string_view name, seam::holders_handler& to) override {
    start_holders_query(name, query_scope::one_lock, to);
  }
  void attach(transport& t) override {
    over_ = &t;
    orphans_.attach(t);
  }
  void detach() noexcept override { orphans_.clear(); }
  void end_claims(errc code, const std::string& why, time_point now, event_queue& events) override {
    if (!ended_.code) ended_ = {code, why};
    waits_.close(events);
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const override { return claims_.is_dispatching(); }

  // session_listener
  void on_attached(bool is_new, time_point now, event_queue& events) override {
    out_since_ = base::never;
    servers_failed_ = 0;
    if (is_new) return;
    for_each_recipe(now, events, [](recipe& r) { return r.on_attached(); });
    orphans_.resume(now);
  }
  void on_watch(const watch_event& e, time_point now, event_queue& events) final {
    waits_.on_watch(e, now, events);
    on_claims_watch(e, now, events);
  }
  void on_deadline(time_point deadline, event_queue& events) override {
    for_each_recipe(deadline, events, [&](recipe& r) { return r.on_deadline(deadline); });
  }
  void on_doubtful(event_queue& events) override {
    for_each_recipe({}, events, [](recipe& r) { return r.on_doubtful(); });
  }
  // Its nodes go with it.
  void on_session_lost(const base::failure&, event_queue& events) override {
    orphans_.clear();
    const time_point now = env_.now();
    for_each_recipe(now, events, [&](recipe& r) { return r.on_session_lost(now, rules()); });
  }
  // Where no server can be reached at all, one attempt has been made.
  void on_down(const base::failure& why, time_point now, event_queue& events) override {
    const bool is_loss = out_since_ == base::never;
    if (is_loss) out_since_ = now;
    if (claims_.bounds_waits()) over_->tick_by(now);
    if (is_loss || ++servers_failed_ < settings_.servers.size()) return;
    const auto is_attempt = [](const claim& c) { return c.recipe().is_attempt(); };
    claims_.give_up(is_attempt, errc::unavailable, why.text, now, events);
  }
  void on_ended(const base::failure& why, event_queue& events) override {
    ended_ = why.code ? why : base::failure{errc::closed, "the client was closed"};
    orphans_.clear();
    end_claims(static_cast<errc>(ended_.code.value()), ended_.text, env_.now(), events);
  }
  void on_tick(time_point now, event_queue& events) override {
    end_waits(now, events);
    over_->tick_by(claims_.wake_due(now, events));
    waits_.on_tick(now, events);
    over_->tick_by(waits_.next());
    orphans_.tick(now);
  }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return over_->mutex(); }
  base::environment& env() const noexcept { return env_; }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return over_->is_forked(); }
  static recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const claim&) const { return env_.now(); }
  void add(claim& c, std::string_view name) {
    c.path = lock_path(settings_.chroot, name);
    claims_.add(c);
  }
  void remove(claim& c) noexcept { claims_.remove(c); }
  void wake_at(claim& c, time_point t) {
    claims_.wake_at(c, t);
    over_->tick_by(t);
  }
  void after_step(claim& c, time_point now) noexcept {
    if (c.recipe().is_idle()) c.attempt = {};
    const bool is_bounded = out_since_ != base::never && claims_.bounds_waits();
    if (is_bounded && c.recipe().is_waiter()) over_->tick_by(now);
  }
  void request_flush(claims::urgency when) noexcept {
    over_->request_flush(when == claims::urgency::now);
  }
  std::string reason(const claim& c, errc why) const {
    if (ended_.code) return ended_.text;
    if (why == errc::exhausted)
      return c.czxid > number_max ? std::string(epochs_exhausted) : explain_exhausted(c.path);
    const std::string& last = over_->of_session().last_failure().text;
    if (why == errc::unavailable) return last.empty() ? "no answer within the op-timeout" : last;
    return {};
  }

  // For its batches; with the transport's mutex held.
  transport& over() noexcept { return *over_; }
  claim* claim_at(const claims::claim_handle& p) const noexcept { return claims_.at(p); }
  // False: the session has ended for good.
  bool send(Batch& f, opcode op, std::string body, time_point now, std::string watched = {}) {
    const bool is_sent =
        over_->of_session().submit(f, op, std::move(body), now, std::move(watched));
    if (is_sent) f.expect();
    return is_sent;
  }
  // getData, not exists: where the node is not there, no watch is left behind.
  void send_watch(Batch& f, const std::string& path, time_point now) {
    send(f, opcode::get_data, watched_path_body(path, true), now, path);
  }
  void send_parent(Batch& f, const std::string& path, node_kind kind, time_point now) {
    std::string body;
    append_create(body, path, {}, kind, acl_of::anyone);
    const bool is_container = kind == node_kind::container;
    send(f, is_container ? opcode::create_container : opcode::create2, std::move(body), now);
  }
  void on_batch_end(claim_batch<Protocol>& f, const reply_context& context) {
    claim* const c = claim_at(f.whose());
    auto r = std::exchange(f.result, {});
    std::string text = std::exchange(f.text, {});
    spare_batches_.push_back(static_cast<Batch*>(&f));
    if (!c) return;
    const session_deadline& by = over_->of_session().deadline();
    r.deadline = by.deadline();
    r.term = by.timeout();
    c->on_reply(r, std::move(text), context.now, context.events);
  }
  void on_batch_cut(claim_batch<Protocol>& f, const reply_context& context) {
    const auto op = f.op();
    const std::uint32_t epoch = f.result.epoch;
    claim* const c = claim_at(f.whose());
    spare_batches_.push_back(static_cast<Batch*>(&f));
    if (!c) return;
    c->on([&](recipe& r) { return r.on_cut(op, epoch, context.now, rules()); }, context.now,
          context.events);
  }

 protected:
  // Answers later, or from inside the call.
  virtual void start_holders_query(std::string_view name, query_scope, seam::holders_handler&) = 0;
  // A watch fired, perhaps one that a claim has set.
  virtual void on_claims_watch(const watch_event&, time_point now, event_queue&) = 0;
  const settings& options() const noexcept { return settings_; }
  std::string data_of(const claim& c) const {
    return text_of(node_owner{process_.host, process_.pid, std::string(c.note())});
  }
  // The answer to what is asked after the end.
  std::optional<typename recipe::reply> answer_after_end(const claim& c,
                                                         typename recipe::operation op) const {
    if (!ended_.code) return {};
    typename recipe::reply r;
    r.to = op;
    r.epoch = c.recipe().epoch();
    r.what = op == recipe::operation::remove ? recipe::reply::verdict::done
                                             : recipe::reply::verdict::failed;
    r.why = static_cast<errc>(ended_.code.value());
    return r;
  }
  // Ends a batch that sends nothing.
  std::optional<typename recipe::reply> answer_at_once(Batch& f,
                                                       typename recipe::reply::verdict result) {
    f.result.what = result;
    spare_batches_.push_back(&f);
    return f.result;
  }
  Batch& take_batch() {
    if (spare_batches_.empty()) return *batches_.emplace_back(std::make_unique<Batch>(derived()));
    Batch& out = *spare_batches_.back();
    spare_batches_.pop_back();
    return out;
  }
  orphan_nodes& orphans() noexcept { return orphans_; }
  query_context queries() noexcept { return {*over_, waits_, settings_.op_timeout}; }
  template <class Each>
  void for_each_at(std::string_view path, Each each) {
    claims_.for_each_in(path, each);
  }

 private:
  typename Protocol::store& derived() noexcept {
    return static_cast<typename Protocol::store&>(*this);
  }
  template <class Event>
  void for_each_recipe(time_point now, event_queue& events, Event event) {
    claims_.for_each([&](claim& c) { c.on(event, now, events); });
  }
  void end_waits(time_point now, event_queue& events) {
    const auto why = [this] { return over_->of_session().last_failure().text; };
    const auto waits = claims_.end_waits(out_since_, why, now, events);
    over_->tick_by(waits.due);
    if (waits.retry_now) over_->retry_now(now);
  }

  base::environment& env_;
  const settings& settings_;
  const base::process_identity process_;
  transport* over_ = nullptr;  // while it is attached
  claims::claim_list<claim, std::string_view> claims_;
  node_waits waits_;
  orphan_nodes orphans_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Batch*> spare_batches_;
  time_point out_since_ = base::never;  // without a connection
  std::size_t servers_failed_ = 0;      // since then
  base::failure ended_;                 // for good
};

}  // namespace holdfast::zookeeper
