// The layouts of one client: one, or one for each kind of lock. All of them receive
// what the session reports, and each identifies its own nodes.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/layout.hpp"
#include "seam/store_family.hpp"

namespace holdfast::zookeeper {

class layout_family final : public session_listener {
 public:
  // `stores` is empty, and names the layout in its texts.
  layout_family(std::vector<std::unique_ptr<layout>> all, seam::store_family stores)
      : all_(std::move(all)), stores_(std::move(stores)) {
    for (const auto& l : all_) stores_.add(*l);
  }

  const seam::store_family& stores() const noexcept { return stores_; }

  // As of each layout, with the transport's mutex held.
  void attach(transport& t) { for_each(&layout::attach, t); }
  void detach() noexcept { for_each(&layout::detach); }
  void end_claims(errc code, const std::string& why, time_point now, base::event_queue& events) {
    for_each(&layout::end_claims, code, why, now, events);
  }
  bool is_dispatching() const {
    return std::ranges::any_of(all_, [](const auto& l) { return l->is_dispatching(); });
  }

  // session_listener
  void on_attached(bool is_new, time_point now, base::event_queue& events) override {
    for_each(&layout::on_attached, is_new, now, events);
  }
  void on_deadline(time_point deadline, base::event_queue& events) override {
    for_each(&layout::on_deadline, deadline, events);
  }
  void on_doubtful(base::event_queue& events) override { for_each(&layout::on_doubtful, events); }
  void on_session_lost(const base::failure& why, base::event_queue& events) override {
    for_each(&layout::on_session_lost, why, events);
  }
  void on_watch(const watch_event& e, time_point now, base::event_queue& events) override {
    for_each(&layout::on_watch, e, now, events);
  }
  void on_down(const base::failure& why, time_point now, base::event_queue& events) override {
    for_each(&layout::on_down, why, now, events);
  }
  void on_ended(const base::failure& why, base::event_queue& events) override {
    for_each(&layout::on_ended, why, events);
  }
  void on_tick(time_point now, base::event_queue& events) override {
    for_each(&layout::on_tick, now, events);
  }

 private:
  template <class Event, class... Args>
  void for_each(Event event, Args&... args) {
    for (const auto& l : all_) ((*l).*event)(args...);
  }

  const std::vector<std::unique_ptr<layout>> all_;
  seam::store_family stores_;
};

}  // namespace holdfast::zookeeper
