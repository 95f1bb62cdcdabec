// The zookeeper backend: one session at an ensemble, one layout of locks in its tree.
#pragma once
#include <memory>
#include <stop_token>

#include "backend/zookeeper/layouts/layout.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

// zookeeper:, zookeepers:. Opens a session. Throws lock_error.
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
  bool is_out() const noexcept override { return over_.is_out(); }
  core::reach read_reach() override;
  void hurry() noexcept override;
  void flush() override { over_.request_flush(true); }
  core::caller_driver* driver() noexcept override { return over_.driver(); }
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
  void write_held(const core::held_write& w, core::held_write_handler& to) override {
    layout_->write_held(w, to);
  }
  void examine(core::findings_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override { over_.forked(); }

  // Waits until there is a session. Throws lock_error; canceled when it is stopped.
  void connect(std::stop_token stop) { over_.open(std::move(stop)); }

 private:
  bool is_dispatching();

  const settings settings_;
  core::environment& env_;
  const std::unique_ptr<layout> layout_;
  transport over_;
};

}  // namespace holdfast::zookeeper
