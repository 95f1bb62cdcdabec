// The base of all strategies: their claims, the statements that are under way for these, the effect
// of an outage on those that wait, and the opening of the tables.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/mysql/settings.hpp"
#include "backend/mysql/strategies/strategy.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::mysql {

// The handler of statements whose replies have no effect.
class ignored_reply final : public statement_handler {
  void on_reply(const sql_reply&, const reply_context&) override {}
  void on_cut(const failure&, const reply_context&) override {}
};

// The strategy of a recipe derives from it and has what of claims::store_of is not here. Request:
// one statement of a claim, until it is answered. Group: as in claim_list.
template <class Protocol, class Request, class Group = void>
class claims_strategy : public strategy, public claims::store_defaults {
 public:
  using claim = claims::store_claim<Protocol>;

  // lock_store
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& sink) final {
    return std::make_unique<claim>(derived(), name, sink);
  }

  // mysql::strategy
  void attach(transport& t) final { over_ = &t; }
  void end_claims(errc code, const std::string& why, time_point now, event_queue& events) final {
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const final { return claims_.is_dispatching(); }

  // transport_user
  std::optional<failure> opened() const final { return opened_; }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return over_->mutex(); }
  base::environment& env() const noexcept { return env_; }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return over_->is_forked(); }
  time_point clock_for_release(const claim&) const { return env_.now(); }
  void remove(claim& c) noexcept { claims_.remove(c); }
  void wake_at(claim& c, time_point t) {
    claims_.wake_at(c, t);
    over_->tick_by(t);
  }
  void request_flush(claims::urgency when) noexcept {
    over_->reactor().request_flush(when == claims::urgency::now);
  }

  // For its requests; with the mutex.
  void give_back(Request& r) noexcept { spare_.push_back(&r); }
  transport& over() noexcept { return *over_; }

 protected:
  // The settings outlive it.
  claims_strategy(base::environment& env, const settings& s)
      : env_(env), settings_(s), claims_(s.rules) {}
  ~claims_strategy() override = default;

  const settings& terms() const noexcept { return settings_; }
  Request& take_request() {
    if (spare_.empty()) return *requests_.emplace_back(std::make_unique<Request>(derived()));
    Request& out = *spare_.back();
    spare_.pop_back();
    return out;
  }
  void note_submitted(const claim& c, time_point now) {
    if (!over_->is_unavailable()) return;
    watch_outage(now);
    if (!c.recipe().is_waiter()) over_->retry_by(now + settings_.retry_base);
  }
  void watch_outage(time_point now) {
    if (over_->is_unavailable()) over_->tick_by(claims_.first_end_of_wait(now));
  }
  void end_waits(time_point now, event_queue& events) {
    const auto why = [this] { return over_->reason(errc::unavailable); };
    const auto waits = claims_.end_waits(over_->out_since(), why, now, events);
    over_->tick_by(waits.due);
    if (waits.retry_now) over_->retry_by(now);
  }
  // On the first connection, until finish_opening(): the tables exist, or why they do not.
  void send_opening(std::string statement, time_point now) {
    over_->submit(lane::commands, std::move(statement), opening_, now);
  }
  virtual void on_opening_reply(const sql_reply&, const reply_context&) {}
  void finish_opening(failure why = {}) { opened_ = std::move(why); }

  base::environment& env_;
  const settings& settings_;
  transport* over_ = nullptr;  // while it is attached
  claims::claim_list<claim, Group> claims_;

 private:
  class opening_reply final : public statement_handler {
   public:
    explicit opening_reply(claims_strategy& s) noexcept : home_(s) {}
    void on_reply(const sql_reply& r, const reply_context& c) override {
      home_.on_opening_reply(r, c);
    }
    void on_cut(const failure& why, const reply_context&) override { home_.finish_opening(why); }

   private:
    claims_strategy& home_;
  };

  typename Protocol::store& derived() noexcept {
    return static_cast<typename Protocol::store&>(*this);
  }

  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> spare_;
  opening_reply opening_{*this};
  std::optional<failure> opened_;
};

}  // namespace holdfast::mysql
