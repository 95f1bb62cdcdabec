// The layout of every codec of the sequential recipe: its claims, what they send, which of them a
// watch concerns, and the nodes that have to be removed.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/zookeeper/layouts/layout.hpp"
#include "backend/zookeeper/layouts/sequential_claim.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

class sequential_layout final : public layout {
 public:
  // The settings outlive it.
  sequential_layout(core::environment&, const settings&, std::unique_ptr<const sequential_codec>);

  // layout
  const core::capabilities& can() const noexcept override { return codec_->can(); }
  std::string name_fault(std::string_view name) const override;
  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) override;
  void inspect(std::string_view prefix, core::holders_handler&) override;
  void holders(std::string_view name, core::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, core::decision_handler&) override;
  void attach(transport& t) override { over_ = &t; }
  void detach() noexcept override;
  void end_claims(errc, const std::string& why, time_point now, core::event_queue&) override;
  bool is_dispatching() const override;
  bool is_settled() const noexcept override { return removals_.empty(); }

  // session_user
  void on_attached(bool is_new, time_point now, core::event_queue&) override;
  void on_deadline(time_point deadline, core::event_queue&) override;
  void on_doubtful(core::event_queue&) override;
  void on_session_lost(const core::failure&, core::event_queue&) override;
  void on_watch(const watch_event&, time_point now, core::event_queue&) override;
  void on_down(const core::failure&, time_point now, core::event_queue&) override;
  void on_ended(const core::failure&, core::event_queue&) override;
  void on_tick(time_point now, core::event_queue&) override;

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return over_->mutex(); }
  core::environment& env() const noexcept { return env_; }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return over_->is_forked(); }
  static sequential_recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const sequential_claim&) const { return env_.now(); }
  void add(sequential_claim&, std::string_view name);
  void remove(sequential_claim&) noexcept;
  static errc refuses(const sequential_claim&, claims::verb) noexcept { return {}; }
  std::optional<sequential_reply> submit(sequential_claim&, sequential_operation, time_point now,
                                         core::event_queue&);
  static void deliver(time_point, core::event_queue&) noexcept {}
  void renew_owner(sequential_claim&);
  void withdraw_orphan(sequential_claim&, time_point now, core::event_queue&);
  void wake_at(sequential_claim&, time_point);
  static void after_step(sequential_claim&, time_point) noexcept;
  void request_flush(claims::urgency how) noexcept {
    over_->request_flush(how == claims::urgency::now);
  }
  static std::string text_of_owner(const sequential_claim& c) { return c.node; }
  std::string reason(const sequential_claim&, errc why) const;

  // For its flights and removals; with the transport's mutex held.
  const sequential_codec& codec() const noexcept { return *codec_; }
  transport& over() noexcept { return *over_; }
  // False: the session has ended for good.
  bool send(reply_handler&, opcode, std::string body, time_point now, std::string watched = {});
  void on_flight_end(flight&, const reply_context&);
  void on_flight_cut(flight&, const reply_context&);
  sequential_claim* claim_of(const flight&) const noexcept;
  void end_removal(removal&) noexcept;
  void retry_removal(removal&, time_point at);

 private:
  flight& take_flight();
  void send_create(sequential_claim&, flight&, time_point now);
  void send_list(sequential_claim&, flight&, time_point now, bool is_synced);
  void send_watch(const sequential_claim&, flight&, const std::string& node, time_point now);
  void send_downgrade(sequential_claim&, flight&, time_point now);
  void send_remove(sequential_claim&, flight&, const std::string& node, time_point now);
  std::string data_of(const sequential_claim&) const;
  void remove_later(const sequential_claim&, time_point now);
  template <class Each>
  void for_each_at(std::string_view path, Each);
  void end_waits(time_point now, core::event_queue&);

  core::environment& env_;
  const settings& settings_;
  const std::unique_ptr<const sequential_codec> codec_;
  const core::process_identity process_;
  transport* over_ = nullptr;  // while it is attached
  claims::claim_table<sequential_claim> claims_;
  // By the path of the lock, which is a view into the claim.
  std::unordered_multimap<std::string_view, sequential_claim*> by_path_;
  core::timer_heap sleepers_;  // claims
  std::list<removal> removals_;
  std::vector<std::unique_ptr<flight>> flights_;
  std::vector<flight*> spare_flights_;
  time_point out_since_ = core::never;  // without a connection
  std::size_t servers_failed_ = 0;      // since then
  core::failure ended_;                 // for good
};

static_assert(claims::store_of<sequential_layout, sequential_claim>);

}  // namespace holdfast::zookeeper
