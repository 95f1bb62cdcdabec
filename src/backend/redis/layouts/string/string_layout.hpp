// Layout `string`: its claims, their owner ids, and what an operator does with the locks. What is
// sent for a claim is decided by the node of its server (string_node.hpp). The algorithm of one
// claim is the recipe (recipes/queueing.hpp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "backend/redis/extensions.hpp"
#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/layouts/string/string_node.hpp"

namespace holdfast::redis {

class string_layout final : public keyed_layout<claim, string_node>,
                            private guarded_values,
                            private grant_counters {
 public:
  string_layout(io::client_reactor&, const settings&);  // the settings outlive it

  // layout
  const seam::capabilities& can() const noexcept override;
  std::string name_fault(std::string_view name) const override;
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  bool can_lock_all(std::span<const std::string_view> names) const override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void on_keys_moved(time_point now, base::event_queue&) override;
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;
  layout_needs needs() const override;

  // The contract of claims::store_of.
  static queueing_recipe new_recipe() noexcept { return {}; }
  void add(claim&, std::string_view lock);
  void remove(claim&) noexcept;
  std::optional<reply> submit(claim&, operation, time_point now, base::event_queue&);
  bool takes_successor(const claim&, operation release,
                       const seam::acquire_request& next) const noexcept;
  void submit_with_successor(claim&, claim& next, time_point now);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  void after_step(claim&, time_point now);
  std::string text_of_owner(const claim&) const;

  // For its nodes; with the reactor's mutex held.
  std::uint64_t client() const noexcept { return client_; }
  owner_text owner_of(const claim&) const noexcept;
  std::string holder_info(const claim&) const;
  // The key that counts the grants of this lock. The text lasts as long as the layout.
  std::string_view counter_of(const claim& c) { return counter_at(c.slot); }
  std::string_view counter_of(std::string_view lock) { return counter_at(slot_here(lock)); }

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    if (void* const values = offer<guarded_values>(*this, wanted)) return values;
    return offer<grant_counters>(*this, wanted);
  }
  void write(const guarded_write&, seam::decision_handler&) override;
  void raise(std::string_view name, std::int64_t floor, seam::decision_handler&) override;
  std::unique_ptr<layout_node> make_node(transport&) override;

  std::string key_of(std::string_view name) const { return settings_.prefix + std::string(name); }
  std::string counter_of_key(std::string_view key) const;
  slot_number slot_here(std::string_view lock) const {  // 0 where there are none
    return keys_move() ? slot_of(lock) : slot_number{};
  }
  std::string_view counter_at(slot_number);
  void drop_owner(claim&) noexcept;
  void count(claim&, time_point now);
  void move(claim&, string_node& to, time_point now);

  const std::uint64_t client_;
  std::unordered_map<slot_number, std::string> counters_;  // in a cluster
};

}  // namespace holdfast::redis
