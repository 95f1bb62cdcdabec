// The layout of every codec of the retrying recipe, at one server: its claims, what they send,
// their renewals, and the owners that have to be withdrawn.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/renewal_queue.hpp"
#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

class retrying_layout final : public layout, public claims::store_defaults {
 public:
  using request = batch<retrying_layout, retrying_operation>;

  // The settings outlive it.
  retrying_layout(io::client_reactor&, const settings&, std::unique_ptr<const retrying_codec>);

  // layout
  const core::capabilities& can() const noexcept override { return codec_->facts().can; }
  std::string name_fault(std::string_view name) const override { return codec_->name_fault(name); }
  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) override;
  void inspect(std::string_view prefix, core::holders_handler&) override;
  void holders(std::string_view name, core::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, core::decision_handler&) override;
  layout_needs needs() const override { return codec_->facts().needs; }
  void attach(topology& t) override { over_ = t.nodes().front(); }
  void detach() noexcept override;
  void retry_now(time_point now) override { over_->retry_now(lane::commands, now); }
  void withdraw_all(time_point now) override;
  void end_claims(errc code, const std::string& why, time_point now,
                  core::event_queue& events) override {
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const override { return claims_.is_dispatching(); }

  // request_source
  void write_requests(transport&, lane, request_writer&) override;
  void on_ready(transport&, lane, time_point now, core::event_queue&) override;
  void on_down(transport&, lane, const core::failure&, loss, time_point now,
               core::event_queue&) override;
  void on_silent(transport&, lane, time_point now) override { watch_outage(now); }
  void on_agreed(transport&, time_point) override {}  // write_collected() has kept it
  void on_data_in_doubt(transport&) override {}       // nothing is concluded from numbers
  void on_tick(transport&, time_point now, core::event_queue&) override;
  bool is_open(const transport&) const noexcept override { return true; }
  bool is_settled() const noexcept override { return orphans_.empty(); }
  bool is_in_use() const noexcept override { return owners_ > 0; }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  core::environment& env() const noexcept { return reactor_.env(); }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return reactor_.is_forked(); }
  retrying_recipe new_recipe() const noexcept { return retrying_recipe(codec_->facts().rules); }
  time_point clock_for_release(const retrying_claim&) const { return env().now(); }
  void add(retrying_claim& c, std::string_view key) {
    c.key = key;
    claims_.add(c);
  }
  void remove(retrying_claim&) noexcept;
  std::optional<retrying_reply> submit(retrying_claim&, retrying_operation, time_point now,
                                       core::event_queue&);
  void renew_owner(retrying_claim&);
  void withdraw_orphan(retrying_claim&, time_point now, core::event_queue&);
  void wake_at(retrying_claim&, time_point);
  void after_step(retrying_claim&, time_point now);
  void request_flush(claims::urgency how) noexcept {
    reactor_.request_flush(how == claims::urgency::now);
  }
  std::string text_of_owner(const retrying_claim&) const;
  std::string reason(const retrying_claim&, errc why) const { return over_->reason(why); }

  // For its requests and orphans; with the reactor's mutex held.
  const retrying_codec& codec() const noexcept { return *codec_; }
  // As the server has it.
  std::string owner_at_server(const retrying_claim& c) const { return codec_->text_of(c.owner_id); }
  transport& over() noexcept { return *over_; }
  claims::orphan_withdrawals<retrying_orphan>& orphans() noexcept { return orphans_; }
  void on_reply(request&, const value&, const reply_context&);
  void on_not_executed(request&, const reply_context&);
  void on_cut(request&, const reply_context&);

 private:
  retrying_reply::verdict subscribe(retrying_claim&, time_point now);
  void stop_listening(retrying_claim&) noexcept;
  duration probe_pause() const noexcept { return settings_.op_timeout / 4; }
  void probe_messages(time_point now);
  void collect(retrying_claim&, retrying_operation, time_point now);
  void write_collected(request_writer&, time_point now);
  void write_renewals(request_writer&, time_point now);
  void answer_renewals(request&, const value&, const reply_context&);
  void end_renewals(request&) noexcept;
  void load_scripts(time_point now);
  void confirm_leases(time_point now, core::event_queue&);
  std::string key_of(std::string_view name) const {
    return (settings_.prefix + std::string(name)).append(codec_->facts().key_suffix);
  }
  void begin_step(retrying_claim&, retrying_operation);
  void poll_meanwhile(time_point now, core::event_queue&);
  void drop_owner(retrying_claim&) noexcept;
  lock_request request_of(const retrying_claim&, std::string_view owner) const noexcept;
  void watch_outage(time_point now);
  void end_waits(time_point now, core::event_queue&);

  io::client_reactor& reactor_;
  const settings& settings_;
  const std::unique_ptr<const retrying_codec> codec_;
  transport* over_ = nullptr;  // while it is attached
  claims::claim_list<retrying_claim> claims_;
  claims::orphan_withdrawals<retrying_orphan> orphans_;
  batch_pool<retrying_layout, retrying_operation> pool_{*this};
  std::vector<request*> collected_;  // for the next write
  renewal_queue renewals_;
  std::size_t owners_ = 0;     // claims that hold or want a lock
  std::size_t listeners_ = 0;  // claims that wait for messages
};

static_assert(claims::store_of<retrying_layout, retrying_claim>);

}  // namespace holdfast::redis
