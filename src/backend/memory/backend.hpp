// The memory backend: a lease store inside the process, with faults on demand.
#pragma once
#include <memory>

#include "backend/memory/memory_layout.hpp"
#include "backend/memory/query.hpp"
#include "seam/registry.hpp"

namespace holdfast::memory {

// "memory:NAME" (shared in the process) or "memory:" (a store of its own). Its options:
//   lifetime=process     leases do not expire, as those of file:; default: ttl
//   latency=DURATION     how long each request takes to arrive, and each reply
//   lose-requests=P      probability that a request is lost, 0 to 1
//   lose-replies=P       probability that a reply is lost, 0 to 1
//   seed=N               of these random losses; the same seed loses the same messages
//   stop-after=DURATION  from this long after the open no message of this client arrives, as if
//                        its process were stopped
seam::backend open(const seam::open_args&);  // throws lock_error

struct settings {
  fault_plan faults;
  bool runs_out = true;
  duration stop_after = duration::max();
};

// The options above. Throws lock_error (bad_option).
settings read_settings(const seam::open_args&);

// The real one, or that of a named store, whose clock a test moves.
base::environment& environment_of(const url&);

class backend final : public seam::lock_store, public seam::connection {
 public:
  backend(std::shared_ptr<server>, base::environment&, const timing&);
  ~backend() override;

  // lock_store
  const seam::capabilities& can() const noexcept override;
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  // One step of the store covers all its locks.
  bool can_lock_all(std::span<const std::string_view>) const override { return true; }
  void inspect(std::string_view prefix, seam::holders_handler& to) override {
    queries_.inspect(prefix, to);
  }
  void holders(std::string_view name, seam::holders_handler& to) override {
    queries_.holders(name, to);
  }
  void break_lock(std::string_view name, std::string_view holder_id,
                  seam::decision_handler&) override;

  // connection
  void diagnose(seam::findings_handler&) override;
  bool is_unavailable() const noexcept override { return layout_.over().is_unavailable(); }
  seam::connection_status status() override;
  bool close(time_point until) override;
  void forked() noexcept override { layout_.over().forked(); }

  transport& over() noexcept { return layout_.over(); }

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer(over(), wanted);
  }
  bool is_settled() const { return queries_.empty() && layout_.is_settled(); }
  bool is_dispatching() const;

  memory_layout layout_;
  queries queries_;
};

}  // namespace holdfast::memory
