// The layouts of one client: one, or one for each kind of lock. All of them receive
// what a transport reports, and a write has the requests of all.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/layouts/layout.hpp"
#include "seam/store_family.hpp"

namespace holdfast::redis {

class layout_family final : public request_source {
 public:
  // `stores` is empty, and names the layout in its texts.
  layout_family(std::vector<std::unique_ptr<layout>>, core::store_family stores);

  const core::store_family& stores() const noexcept { return stores_; }
  std::vector<layout_needs> needs() const;

  // As of each layout, with the reactor's mutex held.
  void attach(topology&);
  void detach() noexcept;
  void retry_now(time_point now);
  void withdraw_all(time_point now);
  bool is_settled() const noexcept;
  void end_claims(errc, const std::string& why, time_point now, core::event_queue&);
  bool is_dispatching() const;

  // request_source
  void write_requests(transport&, lane, request_writer&) override;
  void on_ready(transport&, lane, time_point now, core::event_queue&) override;
  void on_agreed(transport&, time_point now) override;
  void on_down(transport&, lane, const core::failure&, loss, time_point now,
               core::event_queue&) override;
  void on_silent(transport&, lane, time_point now) override;
  void on_data_in_doubt(transport&) override;
  void on_tick(transport&, time_point now, core::event_queue&) override;
  bool is_open(const transport&) const noexcept override;
  bool is_in_use() const noexcept override;

 private:
  const std::vector<std::unique_ptr<layout>> all_;
  core::store_family stores_;
};

}  // namespace holdfast::redis
