// The reply to the raise of the counter.
#pragma once
#include "backend/redis/layouts/string/string_layout.hpp"

namespace holdfast::redis {

class string_layout::raise_reply final : public reply_handler {
 public:
  explicit raise_reply(string_layout& l) noexcept : home_(l) {}

 private:
  void on_reply(const value&, const reply_context&) override;
  void on_not_executed(const reply_context& c) override { on_cut(c); }
  void on_cut(const reply_context&) override { home_.is_raising_ = false; }
  string_layout& home_;
};

}  // namespace holdfast::redis
