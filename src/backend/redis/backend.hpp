// The redis backend: its capabilities, its claims, its questions.
#pragma once
#include <memory>

#include "backend/redis/link.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

// redis:, rediss:, redis+unix:. Connects and greets the server. Throws lock_error.
std::unique_ptr<core::backend> open(const core::opening&);

class backend final : public core::backend {
 public:
  backend(core::environment&, settings);

  const core::capabilities& can() const noexcept override;
  std::string name_fault(std::string_view) const override;
  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) override;
  bool can_lock_all(std::span<const std::string_view>) const override { return true; }
  bool is_out() const noexcept override { return link_.is_out(); }
  core::reach read_reach() override { return link_.read_reach(); }
  void hurry() noexcept override { link_.hurry(); }
  void flush() override { link_.flush(); }
  core::caller_driver* driver() noexcept override { return link_.driver(); }
  void inspect(std::string_view prefix, core::holders_handler&) override;
  void holders(std::string_view name, core::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, core::decision_handler&) override;
  void write_guarded(const core::guarded_write&, core::decision_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override { link_.forked(); }

  void connect(std::stop_token s) { link_.open_first(std::move(s)); }

 private:
  bool is_telling();
  link link_;
};

}  // namespace holdfast::redis
