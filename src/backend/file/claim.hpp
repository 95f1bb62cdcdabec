// A claim on a lock file: carries out the actions of the recipe.
#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "backend/file/lock_file.hpp"
#include "backend/file/recipe.hpp"
#include "backend/file/record.hpp"
#include "backend/file/release_notice.hpp"
#include "backend/file/waiter_threads.hpp"
#include "base/fork.hpp"
#include "seam/claim.hpp"

namespace holdfast::file {

struct identity {  // names a client in its records
  std::string host;
  std::int64_t pid = 0;
  std::uint64_t client = 0;
};

// The thread that calls a verb does everything that does not block; a thread of `threads` waits for
// a lock that another claim holds, and does what follows.
class file_claim final : public seam::claim, private blocking_job {
 public:
  file_claim(folder&, waiter_threads&, base::environment&, const identity&, std::string_view name,
             seam::claim_sink&);
  ~file_claim() override;

  void acquire(const seam::acquire_request& request) override { start(request, false); }
  void cancel() override;
  void renew(base::duration ttl, std::uint32_t ticket) override;
  void release(const seam::successor* next) override;
  bool others_wait() override;
  int native_handle() const noexcept override { return file_.get(); }

 private:
  enum class stopping : unsigned char { no, cancelled, closed };

  void block(interrupter&) override;
  void answer() override { deliver(decided_); }
  void stop() noexcept override { stop_waiting(stopping::closed); }

  void start(const seam::acquire_request&, bool behind);
  bool describe(const seam::acquire_request&);
  void enqueue();
  action carry_out(action, interrupter*);
  event try_lock();
  event try_unprobed();
  event wait(interrupter&);
  event wait_alone(interrupter&);
  event wait_to_share(interrupter&);
  event wait_for_permits(interrupter&);
  event try_for_permits();
  bool may_block(interrupter&) noexcept;
  void tick(interrupter&, bool yes) noexcept;
  void yield_to_waiters();
  void announce_early();
  void announce_here() noexcept;
  void withdraw() noexcept;
  void forget_file() noexcept;
  event guard(interrupter*);
  action look();
  event of(lock_file::attempt);
  event of(bool is_done, event done);
  bool shares() const noexcept { return as_.mode != lock_mode::exclusive; }
  bool is_another_kind();
  bool others_come_first();
  void stop_waiting(stopping) noexcept;
  void close_file() noexcept;
  void deliver(action);

  const std::string name_;
  seam::claim_sink& sink_;
  base::environment& env_;
  waiter_threads& threads_;
  const identity& me_;
  descriptor_table& files_;
  const directory& place_;
  const unsigned generation_ = base::fork_generation();
  lock_file file_;
  recipe recipe_;
  record_text text_;
  std::string note_;
  kind as_;                            // what is requested
  base::failure trouble_;              // of the last failure
  std::chrono::microseconds since_{};  // of the grant, since 1970
  action decided_ = action::end;
  bool announced_ = false;       // as a waiter for the exclusive lock
  bool announced_here_ = false;  // in the lock file, as a waiter for a share or for permits
  bool first_in_queue_ = false;  // of the waiters for permits
  bool may_pass_ = false;        // waiters that came before
  release_notice notice_;
  std::int64_t released_ = 0;  // number that another claim of this client has just released
  unsigned openings_ = 0;

  std::mutex mutex_;  // guards the fields below
  bool waiting_ = false;
  stopping stopping_ = stopping::no;
  interrupter* blocked_ = nullptr;  // the thread that waits
};

}  // namespace holdfast::file
