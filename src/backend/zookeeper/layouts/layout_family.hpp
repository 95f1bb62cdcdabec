// The layouts of one client: one, or one for each kind of lock. All of them receive
// what the session reports, and each identifies its own nodes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/zookeeper/layouts/layout.hpp"
#include "seam/store_family.hpp"

namespace holdfast::zookeeper {

class layout_family final : public session_listener {
 public:
  // `stores` is empty, and names the layout in its texts.
  layout_family(std::vector<std::unique_ptr<layout>>, seam::store_family stores);

  const seam::store_family& stores() const noexcept { return stores_; }

  // As of each layout, with the transport's mutex held.
  void attach(transport&);
  void detach() noexcept;
  void end_claims(errc, const std::string& why, time_point now, base::event_queue&);
  bool is_dispatching() const;

  // session_listener
  void on_attached(bool is_new, time_point now, base::event_queue&) override;
  void on_deadline(time_point deadline, base::event_queue&) override;
  void on_doubtful(base::event_queue&) override;
  void on_session_lost(const base::failure&, base::event_queue&) override;
  void on_watch(const watch_event&, time_point now, base::event_queue&) override;
  void on_down(const base::failure&, time_point now, base::event_queue&) override;
  void on_ended(const base::failure&, base::event_queue&) override;
  void on_tick(time_point now, base::event_queue&) override;

 private:
  const std::vector<std::unique_ptr<layout>> all_;
  seam::store_family stores_;
};

}  // namespace holdfast::zookeeper
