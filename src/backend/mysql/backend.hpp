// The mysql backend: the connections to one server, and on them one strategy of locks.
#pragma once
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/mysql/settings.hpp"
#include "backend/mysql/strategies/strategy.hpp"
#include "seam/registry.hpp"

namespace holdfast::mysql {

// mysql:. Connects and greets the server. Throws lock_error.
seam::backend open(const seam::open_args&);
seam::backend open(const seam::open_args&, const connector_maker& over);
// The statements that create the tables of the URL's strategy. Connects to nothing. Throws
// lock_error.
std::vector<std::string> schema(const seam::open_args&);

class backend final : public seam::connection {
 public:
  // `over`: empty: libmariadb.
  backend(base::environment&, settings, const connector_maker& over = {});
  ~backend() override;

  seam::store_family stores() const {
    seam::store_family out;
    out.add(*strategy_);
    return out;
  }

  // connection
  bool is_unavailable() const noexcept override { return over_.is_unavailable(); }
  seam::connection_status status() override;
  void retry_now() noexcept override;
  void flush() override { over_.reactor().flush(); }
  base::caller_driver* driver() noexcept override { return over_.reactor().driver(); }
  void diagnose(seam::findings_handler&) override;
  bool close(time_point until) override;
  void forked() noexcept override { over_.forked(); }

  // Waits until locks can be requested. Throws lock_error; canceled when it is stopped.
  void connect(std::stop_token stop) { over_.open(std::move(stop)); }

 private:
  void settle(time_point until);
  bool is_dispatching();

  const settings settings_;
  const std::unique_ptr<strategy> strategy_;
  transport over_;
};

}  // namespace holdfast::mysql
