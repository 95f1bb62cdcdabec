// Clients at the seam, below the core: one claim for each that wants a lock, as other processes
// have them, over the real network.
#pragma once
#include <holdfast/lease.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "backend/redis/backend.hpp"
#include "fixture.hpp"
#include "io/real_environment.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis_test {

// Writes down what it is told: g r m l w e.
class listener final : public seam::claim_sink {
 public:
  void on_granted(const seam::grant& g) override {
    note('g', [&] { grant_ = g; });
  }
  void on_refused(base::failure f) override {
    note('r', [&] { failure_ = std::move(f); });
  }
  void on_extended(base::time_point d, std::uint32_t ticket) override {
    note('m', [&] {
      grant_.deadline = d;
      extended_ = ticket;
    });
  }
  void on_doubtful() override {}
  void on_lost(std::error_code) override {
    note('l', [] {});
  }
  void on_contended() override {
    note('w', [] {});
  }
  void on_ended(base::failure f) override {
    note('e', [&] { failure_ = std::move(f); });
  }

  bool heard(char) const;  // so far
  bool hears(char);        // waits for it, half a minute
  char hears_any(const char* set, std::chrono::milliseconds most = 30s);  // which; or '-'
  // Whether the renewal with this ticket was confirmed or the lease was lost: 'm', 'l' or '-'.
  char hears_of_renewal(std::uint32_t ticket, std::chrono::milliseconds most);
  void forget();  // what was heard
  seam::grant grant() const;
  base::failure failure() const;

 private:
  template <class Change>
  void note(char what, Change change) {
    const std::lock_guard guard(mutex_);
    change();
    reported_ += what;
    changed_.notify_all();
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string reported_;
  seam::grant grant_;
  base::failure failure_;
  std::uint32_t extended_ = 0;  // the ticket of the last renewal that was confirmed
};

class peer;

// One claim of a peer. Released, or withdrawn, at its end.
class test_claim {
 public:
  test_claim(peer&, const std::string& name);
  test_claim(const test_claim&) = delete;
  test_claim& operator=(const test_claim&) = delete;
  ~test_claim();

  void ask(const seam::acquire_request&);
  bool get(const seam::acquire_request&);  // asks, and waits for the grant
  bool renew(std::chrono::milliseconds ttl);
  void renew_soon(std::chrono::milliseconds ttl);  // does not wait for the answer
  void downgrade();
  bool release();       // true when it was still there
  void release_soon();  // does not wait for the answer
  void release_to(test_claim& next,
                  const seam::acquire_request&);  // which asks in the same write; does not wait
  void cancel();
  std::string owner() const { return claim_->owner(); }
  bool holds() const { return held_; }
  bool is_granted();  // it was asked, and has been granted since
  std::int64_t number() const { return heard.grant().number; }

  listener heard;

 private:
  void send_renewal(std::chrono::milliseconds ttl);
  void flush();
  peer& home_;
  std::unique_ptr<seam::claim> claim_;
  bool held_ = false, asked_ = false;
  std::uint32_t ticket_ = 0;  // of the last renewal
};

// A client.
class peer {
 public:
  explicit peer(const std::string& url, base::environment& = io::real_environment());
  ~peer();
  seam::lock_store& store() noexcept { return backend_.stores.first(); }
  std::vector<holder> inspect(const std::string& prefix);
  bool break_lock(const std::string& name, const std::string& seen);
  void go_on();  // what was said is sent, and somebody waits for the answers

 private:
  seam::backend backend_;
};

inline constexpr std::chrono::milliseconds usual_ttl{30'000};
seam::acquire_request alone(std::chrono::milliseconds ttl = usual_ttl);
seam::acquire_request reading(std::chrono::milliseconds ttl = usual_ttl);
seam::acquire_request permits(std::uint32_t n, std::uint32_t of,
                              std::chrono::milliseconds ttl = usual_ttl);
seam::acquire_request once(seam::acquire_request);  // one attempt

}  // namespace holdfast::redis_test
