// The zookeeper backend: one session with an ensemble, and in its tree one layout of locks, or one
// for each kind of lock.
#pragma once
#include <stop_token>

#include "backend/zookeeper/layouts/layout_family.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

// zookeeper:, zookeepers:. Opens a session. Throws lock_error.
seam::backend open(const seam::open_args&);

class backend final : public seam::connection {
 public:
  backend(base::environment&, settings);
  ~backend() override;

  const seam::store_family& stores() const noexcept { return layouts_.stores(); }

  // connection
  bool is_unavailable() const noexcept override { return over_.is_unavailable(); }
  seam::connection_status status() override;
  void retry_now() noexcept override;
  void flush() override { over_.request_flush(true); }
  base::caller_driver* driver() noexcept override { return over_.driver(); }
  void diagnose(seam::findings_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override { over_.forked(); }

  // Waits until there is a session. Throws lock_error; canceled when it is stopped.
  void connect(std::stop_token stop) { over_.open(std::move(stop)); }

 private:
  bool is_dispatching();

  const settings settings_;
  base::environment& env_;
  layout_family layouts_;
  transport over_;
};

}  // namespace holdfast::zookeeper
