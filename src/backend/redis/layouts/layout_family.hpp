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

  // With the reactor's mutex held.
  void attach(topology&);
  template <class Each>
  void for_each(Each each) const {
    for (const auto& l : all_) each(*l);
  }
  bool is_settled() const noexcept;  // each of them is
  bool is_dispatching() const;       // one of them is

 private:
  // topology::observer
  void on_new_node(transport&) override;
  void on_keys_moved(time_point now, base::event_queue&) override;

  const std::vector<std::unique_ptr<layout>> all_;
  seam::store_family stores_;
};

}  // namespace holdfast::redis
