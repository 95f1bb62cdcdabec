// The layout of every codec of the retrying recipe: its claims and their owners. What is sent for a
// claim is decided by the node of its server (retrying_node.hpp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/layouts/retrying_node.hpp"

namespace holdfast::redis {

class retrying_layout final : public keyed_layout<retrying_claim, retrying_node> {
 public:
  // The settings outlive it.
  retrying_layout(io::client_reactor&, const settings&, std::unique_ptr<const retrying_codec>);

  // layout
  const seam::capabilities& can() const noexcept override { return codec_->facts().can; }
  std::string name_fault(std::string_view name) const override;
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void on_keys_moved(time_point now, base::event_queue&) override;
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;
  layout_needs needs() const override { return codec_->facts().needs; }

  // The contract of claims::store_of.
  retrying_recipe new_recipe() const noexcept { return retrying_recipe(codec_->facts().rules); }
  void add(retrying_claim&, std::string_view key);
  void remove(retrying_claim&) noexcept;
  std::optional<retrying_reply> submit(retrying_claim&, retrying_operation, time_point now,
                                       base::event_queue&);
  void renew_owner(retrying_claim&);
  void withdraw_orphan(retrying_claim&, time_point now, base::event_queue&);
  void after_step(retrying_claim&, time_point now);
  std::string text_of_owner(const retrying_claim&) const;

  // For its nodes; with the reactor's mutex held.
  const retrying_codec& codec() const noexcept { return *codec_; }
  // As the server has it.
  std::string owner_at_server(const retrying_claim& c) const { return codec_->text_of(c.owner_id); }

 private:
  std::unique_ptr<layout_node> make_node(transport&) override;
  std::string key_of(std::string_view name) const {
    return (settings_.prefix + std::string(name)).append(codec_->facts().key_suffix);
  }
  void drop_owner(retrying_claim&) noexcept;

  const std::unique_ptr<const retrying_codec> codec_;
};

static_assert(claims::store_of<retrying_layout, retrying_claim>);

}  // namespace holdfast::redis
