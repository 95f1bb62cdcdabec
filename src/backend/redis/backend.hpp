// The redis backend: one topology of servers, one layout of locks on it.
#pragma once
#include <memory>
#include <stop_token>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/settings.hpp"
#include "backend/redis/transport/transport_group.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

// redis:, rediss:, redis+unix:. Connects and greets the server. Throws lock_error.
std::unique_ptr<core::backend> open(const core::opening&);

class backend final : public core::backend {
 public:
  backend(core::environment&, settings);
  ~backend() override;

  const core::capabilities& can() const noexcept override { return layout_->can(); }
  std::string name_fault(std::string_view name) const override { return layout_->name_fault(name); }
  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink& sink) override {
    return layout_->open(name, sink);
  }
  bool can_lock_all(std::span<const std::string_view> names) const override {
    return layout_->can_lock_all(names);
  }
  bool is_out() const noexcept override { return node_.is_out(); }
  core::reach read_reach() override;
  void hurry() noexcept override;
  void flush() override { group_.flush(); }
  core::caller_driver* driver() noexcept override { return group_.driver(); }
  void inspect(std::string_view prefix, core::holders_handler& to) override {
    layout_->inspect(prefix, to);
  }
  void holders(std::string_view name, core::holders_handler& to) override {
    layout_->holders(name, to);
  }
  void break_lock(std::string_view name, std::string_view seen,
                  core::decision_handler& to) override {
    layout_->break_lock(name, seen, to);
  }
  void examine(core::findings_handler&) override;
  void write_guarded(const core::guarded_write& what, core::decision_handler& to) override {
    layout_->write_guarded(what, to);
  }
  bool close(time_point until) override;
  void forked() noexcept override { group_.forked(); }

  // Waits until the server has been greeted. Throws lock_error; canceled when it is stopped.
  void connect(std::stop_token);

 private:
  void settle(time_point until);
  bool is_dispatching();

  const settings settings_;
  transport_group group_;
  const std::unique_ptr<layout> layout_;
  const std::unique_ptr<topology> topology_;
  transport& node_;
};

}  // namespace holdfast::redis
