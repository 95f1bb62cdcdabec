// One claim on a memory store, with the answers that it got.
#pragma once
#include <memory>
#include <string>

#include "seam/lock_store.hpp"

namespace holdfast::sim {

class memory_log {  // where all that happens is noted
 public:
  virtual void note(const std::string& line) = 0;

 protected:
  ~memory_log() = default;
};

class memory_actor final : public seam::claim_sink {
 public:
  enum class state { idle, asking, canceling, held, releasing };

  memory_actor(seam::lock_store&, std::string name, int client, int number, memory_log&);

  void acquire(const seam::acquire_request&);
  void cancel();
  void renew(base::duration ttl);
  void downgrade();
  // `next`: idle, of the same client; acquires by `how` in the same step. Null: none.
  void release(memory_actor* next, const seam::acquire_request& how);

  state now() const noexcept { return state_; }
  bool is_lost() const noexcept { return is_lost_; }
  bool may_downgrade() const noexcept { return mode_ == lock_mode::exclusive && !is_lost_; }
  std::string owner() const { return claim_->owner(); }
  const std::string& name() const noexcept { return name_; }
  int client() const noexcept { return client_; }
  void close() noexcept { claim_.reset(); }

 private:
  void on_granted(const seam::grant&) override;
  void on_refused(base::failure) override;
  void on_extended(base::time_point deadline, std::uint32_t ticket) override;
  void on_doubtful() override {}
  void on_lost(std::error_code) override;
  void on_contended() override { note("is wanted"); }
  void on_ended(base::failure) override;
  void begin(const seam::acquire_request&);
  void note(const std::string&);

  const std::string name_;
  const int client_, number_;
  memory_log& log_;
  state state_ = state::idle;
  lock_mode mode_{};
  bool is_lost_ = false;
  std::uint32_t ticket_ = 0;
  std::unique_ptr<seam::claim> claim_;
};

}  // namespace holdfast::sim
