// The owner of a connection that no lock depends on: it asks a server something, beside the
// connections of a transport.
#pragma once
#include "backend/redis/transport/connection.hpp"
#include "io/reactor/client_reactor.hpp"

namespace holdfast::redis {

class side_connection_owner : public connection_owner {
 protected:
  explicit side_connection_owner(io::client_reactor& r) noexcept : reactor_(r) {}
  ~side_connection_owner() = default;

  io::client_reactor& reactor_;

 private:
  bool lanes_agree() const noexcept final { return true; }
  void on_demoted(time_point, base::event_queue&) final {}
  void on_data_in_doubt() final {}
  void on_script_missing(std::uint16_t) final {}
  void on_message(std::string_view, std::string_view, time_point, base::event_queue&) override {}
  void on_silent(connection&, time_point) final {}
  void on_heard(connection&, time_point) final {}
  void wake_by(time_point t) final { reactor_.wake_by(t); }
  base::environment& env() final { return reactor_.env(); }
};

}  // namespace holdfast::redis
