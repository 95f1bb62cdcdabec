// A claim on a lock whose name belongs to another shard than in the list before.
//
// While the list of shards changes, some clients still have the former list and some already have
// the present one. This claim excludes both: it acquires the lock at its former shard, then at its
// present one, and holds it while it holds both.
//
// The number of the grant is the larger one of the two. The counter that gave out the smaller one
// is raised to it before the grant is reported. So each later grant has a larger number, whichever
// of the three kinds of clients gets it (docs/shards.md; docs/safety.md, rule 5).
#pragma once
#include <atomic>
#include <memory>
#include <string_view>

#include "seam/connection.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::redis {

// The state that the claims of one client share.
struct moving_claims {
  std::atomic<int> handling{0};        // threads that handle events of a claim
  std::atomic<bool> is_forked{false};  // in a fork's child: nothing is sent
};

class moving_claim final : public seam::claim {
 public:
  struct place {
    seam::lock_store* locks = nullptr;
    seam::connection* over = nullptr;
  };
  // The stores offer grant_counters, or their locks have no tokens.
  moving_claim(std::string_view name, const place& former, const place& present, seam::claim_sink&,
               moving_claims&);
  ~moving_claim() override;

  void acquire(const seam::acquire_request&) override;
  void cancel() override;
  void renew(base::duration ttl, std::uint32_t ticket) override;
  void downgrade() override;
  void check_waiters() override;
  void release(const seam::successor* next) override;
  bool others_wait() override;
  std::string owner() const override;

 private:
  class course;
  const std::shared_ptr<course> course_;
};

}  // namespace holdfast::redis
