// Whether the node of the chroot is there, asked by a sync and an exists when the client opens.
#pragma once
#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

class transport::chroot_reply final : public reply_handler {
 public:
  explicit chroot_reply(transport& t) noexcept : home_(t) {}
  void expect() noexcept { awaited_ = 2; }

 private:
  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool, const reply_context&) override {}  // asked again once attached again

  transport& home_;
  unsigned awaited_ = 0;
};

}  // namespace holdfast::zookeeper
