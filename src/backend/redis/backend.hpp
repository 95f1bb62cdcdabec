// The redis backend: one topology of servers, and on it one layout of locks, or one for each kind
// of lock.
#pragma once
#include <memory>
#include <stop_token>

#include "backend/redis/layouts/layout_family.hpp"
#include "backend/redis/settings.hpp"
#include "io/reactor/client_reactor.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

// Opens a URL of any scheme of this backend except those of shards (shards/shards.hpp). Connects
// and greets the servers. Throws lock_error.
seam::backend open(const seam::open_args&);

seam::store_family names_of(const settings&);

class backend final : public seam::connection {
 public:
  backend(base::environment&, settings);
  ~backend() override;

  const seam::store_family& stores() const noexcept { return layouts_.stores(); }

  // connection
  bool is_unavailable() const noexcept override { return topology_->is_unavailable(); }
  seam::connection_status status() override;
  void retry_now() noexcept override;
  void flush() override { reactor_.flush(); }
  base::caller_driver* driver() noexcept override { return reactor_.driver(); }
  void diagnose(seam::findings_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override { reactor_.forked(); }

  void begin_open();
  // Once, after that. Waits until the servers have been greeted, or the op-timeout is over: why
  // they have not been. Code {}: they have; canceled: it was stopped.
  base::failure await_open(std::stop_token);
  void note_unreached(const base::failure&);  // it is used all the same, once it answers
  const std::string& text() const noexcept { return settings_.text; }
  transport& first_node() noexcept { return *topology_->nodes().front(); }
  struct reached_server {
    std::string address, run_id;  // run_id: empty until it is reached, and if it reports none
    int database = 0;
  };
  reached_server first_server();  // of first_node()

 private:
  class first_connections;

  void settle(time_point until);
  bool is_dispatching();

  const settings settings_;
  io::client_reactor reactor_;
  layout_family layouts_;
  const std::unique_ptr<topology> topology_;
  std::unique_ptr<first_connections> opening_;
};

}  // namespace holdfast::redis
