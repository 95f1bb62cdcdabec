// The layout of every codec of the retrying recipe: its claims and their owners. What is sent for a
// claim is decided by the node of its server (retrying_node.hpp).
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

class retrying_layout final : public layout, public claims::store_defaults {
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
  void end_claims(errc code, const std::string& why, time_point now,
                  base::event_queue& events) override {
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const override { return claims_.is_dispatching(); }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  base::environment& env() const noexcept { return reactor_.env(); }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return reactor_.is_forked(); }
  retrying_recipe new_recipe() const noexcept { return retrying_recipe(codec_->facts().rules); }
  time_point clock_for_release(const retrying_claim&) const { return env().now(); }
  void add(retrying_claim&, std::string_view key);
  void remove(retrying_claim&) noexcept;
  std::optional<retrying_reply> submit(retrying_claim&, retrying_operation, time_point now,
                                       base::event_queue&);
  void renew_owner(retrying_claim&);
  void withdraw_orphan(retrying_claim&, time_point now, base::event_queue&);
  void wake_at(retrying_claim&, time_point);
  void after_step(retrying_claim&, time_point now);
  void request_flush(claims::urgency when) noexcept {
    reactor_.request_flush(when == claims::urgency::now);
  }
  std::string text_of_owner(const retrying_claim&) const;
  std::string reason(const retrying_claim&, errc why) const;

  // For its nodes; with the reactor's mutex held.
  claims::claim_list<retrying_claim>& claims() noexcept { return claims_; }
  const retrying_codec& codec() const noexcept { return *codec_; }
  // As the server has it.
  std::string owner_at_server(const retrying_claim& c) const { return codec_->text_of(c.owner_id); }
  retrying_node& node_of_lock(std::string_view key) const noexcept;
  void note_redirected(std::string_view key, const transport& from, const redirection& to,
                       time_point now) const {
    servers().on_redirected(key, from, to, now);
  }

 private:
  std::unique_ptr<layout_node> make_node(transport&) override;
  std::string key_of(std::string_view name) const {
    return (settings_.prefix + std::string(name)).append(codec_->facts().key_suffix);
  }
  void drop_owner(retrying_claim&) noexcept;

  io::client_reactor& reactor_;
  const settings& settings_;
  const std::unique_ptr<const retrying_codec> codec_;
  claims::claim_list<retrying_claim> claims_;
};

static_assert(claims::store_of<retrying_layout, retrying_claim>);

}  // namespace holdfast::redis
