// The layouts of one client: one, or one for each kind of lock.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/layouts/layout.hpp"
#include "seam/store_family.hpp"

namespace holdfast::redis {

class layout_family final : private topology::observer {
 public:
  // `stores` is empty, and names the layout in its texts.
  layout_family(std::vector<std::unique_ptr<layout>>, seam::store_family stores);

  const seam::store_family& stores() const noexcept { return stores_; }
  std::vector<layout_needs> needs() const;

  // As of each layout, with the reactor's mutex held.
  void attach(topology&);
  void detach() noexcept;
  void retry_now(time_point now);
  void withdraw_all(time_point now);
  bool is_settled() const noexcept;
  void end_claims(errc, const std::string& why, time_point now, base::event_queue&);
  bool is_dispatching() const;

 private:
  // topology::observer
  void on_new_node(transport&) override;
  void on_keys_moved(time_point now, base::event_queue&) override;

  const std::vector<std::unique_ptr<layout>> all_;
  seam::store_family stores_;
};

}  // namespace holdfast::redis
