// A lock store in the hands of a test: no server, no thread, and any lifetime of its grants. The
// test says when the session is confirmed, in doubt or at its end.
#pragma once
#include <holdfast/url.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/client_access.hpp"
#include "base/event_queue.hpp"
#include "cohort/client_impl.hpp"
#include "seam/backend.hpp"
#include "seam/registry.hpp"

namespace holdfast::testkit {

using base::duration;
using base::time_point;

class fake_store final : public seam::lock_store, public seam::connection {
 public:
  class claim;
  static constexpr duration session_timeout = std::chrono::seconds{12};

  fake_store(seam::lifetime, base::environment&);

  // A client of a store of its own. The store lives as long as the client.
  static client open(seam::lifetime, base::environment&, std::string_view options = {});
  static fake_store& of(const client& c) {
    return static_cast<fake_store&>(detail::client_access::impl(c).connection());
  }

  // The reports of a backend with sessions or connections to each claim that holds a lock.
  void confirm() { confirm_until(env_.now() + session_timeout); }  // a heartbeat was answered
  void confirm_until(time_point);
  void doubt();               // the server does not answer
  void request_revocation();  // somebody asks for the lock
  void end();                 // of the session, or of the connection

  time_point deadline();
  int renewals();            // requests of the core for a renewal
  int checks_for_waiters();  // requests of the core, which has kept a grant
  int grouped_requests();    // requests that are to be granted in one step with others
  // Called at each renewal, on its thread. Set it before there are other threads.
  void on_renewal(std::function<void()> hook) { on_renewal_ = std::move(hook); }
  // Called by close() with the number of claims that hold a lock. Set it as early.
  void on_close(std::function<void(std::size_t)> hook) { on_close_ = std::move(hook); }
  // Before the lock of that name is first used. The loop outlives the client.
  void give_loop(const std::string& name, base::caller_driver& loop) {
    of_locks_.try_emplace(name, *this, loop);
  }

  const seam::capabilities& can() const noexcept override { return can_; }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  void inspect(std::string_view, seam::holders_handler& h) override { h.on_result({}); }
  void holders(std::string_view, seam::holders_handler& h) override { h.on_result({}); }
  void break_lock(std::string_view, std::string_view, seam::decision_handler& h) override {
    h.on_result(false);
  }
  void diagnose(seam::findings_handler& h) override { h.on_result({}); }
  seam::connection& of(std::string_view name) noexcept override {
    const auto found = of_locks_.find(name);
    return found == of_locks_.end() ? static_cast<seam::connection&>(*this) : found->second;
  }
  bool close(time_point) override;
  void forked() noexcept override {}

 private:
  struct connection_of_lock final : seam::connection {
    connection_of_lock(fake_store& s, base::caller_driver& l) noexcept : home(s), loop(l) {}
    base::caller_driver* driver() noexcept override { return &loop; }
    void diagnose(seam::findings_handler& h) override { home.diagnose(h); }
    bool close(time_point until) override { return home.close(until); }
    void forked() noexcept override {}
    fake_store& home;
    base::caller_driver& loop;
  };

  template <class Change>
  void change_holders(base::claim_event, Change);

  base::environment& env_;
  seam::capabilities can_;
  std::map<std::string, connection_of_lock, std::less<>> of_locks_;
  std::function<void()> on_renewal_ = [] {};
  std::function<void(std::size_t)> on_close_ = [](std::size_t) {};
  std::mutex mutex_;
  std::set<claim*> claims_;
  std::deque<claim*> queue_;
  time_point deadline_ = base::never;  // of the session or the connection
  std::int64_t number_ = 0;
  int renewals_ = 0;
  int checks_ = 0;
  int grouped_requests_ = 0;
};

// Exclusive and shared claims of any name count as claims of one lock.
class fake_store::claim final : public seam::claim, private base::event_source {
 public:
  claim(fake_store&, seam::claim_sink&);
  static void operator delete(claim*, std::destroying_delete_t);

  void acquire(const seam::acquire_request&) override;
  void cancel() override;
  void check_waiters() override;
  void renew(duration ttl, std::uint32_t ticket) override;
  void release(const seam::successor* next) override;

 private:
  friend class fake_store;
  void on_event(base::claim_event) override;
  void on_retired() noexcept override;
  void grant(base::event_queue&);
  void end(base::event_queue&);

  fake_store& store_;
  seam::claim_sink& sink_;
  bool is_held_ = false;
  duration ttl_{};
  std::uint32_t ticket_ = 0;
  std::int64_t number_ = 0;
  time_point deadline_ = base::never;
};

}  // namespace holdfast::testkit
