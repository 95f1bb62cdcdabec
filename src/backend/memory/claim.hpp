// One claim: its recipe, its transport, and the sink of the core.
#pragma once
#include <memory>
#include <new>
#include <string>

#include "backend/memory/group_barrier.hpp"
#include "backend/memory/orphan_withdrawals.hpp"
#include "backend/memory/transport.hpp"
#include "base/event_queue.hpp"
#include "seam/claim.hpp"

namespace holdfast::memory {

struct client_side {  // the state that the claims of one client share
  class transport transport;
  orphan_withdrawals orphans;
  group_barrier groups;
  bool closed = false;

  client_side(std::shared_ptr<server> s, core::environment& env, const timing& t)
      : transport(std::move(s), env, t), orphans(transport), groups(transport) {}
};

class claim final : public core::claim, private subscriber, private event_source {
 public:
  claim(client_side&, std::string_view name, core::claim_sink&);
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;
  ~claim() override = default;
  // The core may destroy a claim while another thread still dispatches its events.
  static void operator delete(claim*, std::destroying_delete_t);

  void acquire(const core::acquire_request&) override;
  void cancel() override;
  void renew(duration ttl, std::uint32_t ticket) override;
  void downgrade() override;
  void release(const core::successor* next) override;
  std::string owner() const override;

  // For the backend's close(), with the server's mutex held.
  static claim* of(endpoint&, const client_side&) noexcept;
  bool waits() const noexcept { return recipe_.waits(); }
  bool is_being_told() const noexcept { return is_dispatching(); }
  void give_up(event_queue&);

 private:
  // Request details, kept only where a request needs more than an exclusive lock.
  struct details final : request_details {
    core::lock_group group;  // until it is answered
    std::uint32_t is = 0;    // the size that the holders use; as in request_details
  };

  transport& home() noexcept override { return side_.transport; }
  void on_reply(const reply&, time_point now, event_queue&) override;
  void on_reply(const push&, time_point now, event_queue&) override;
  void on_wake(time_point now, event_queue&) override;
  void on_event(claim_event) override;
  void on_retired() noexcept override;
  template <class Step>
  void verb(Step step) {
    verb_at({}, step);
  }
  template <class Step>
  void verb_at(time_point, Step);  // {}: the clock's time
  errc note_details(const core::acquire_request&);
  bool release_undated(event_queue&);
  void carry_out(const effects&, time_point now, event_queue&);
  void send(operation, time_point now, event_queue&);
  void detach() noexcept;
  core::failure reason() const;
  std::string mismatch() const;

  // These fit into the last eight bytes of event_source.
  bool others_waited_ = false;  // at the grant
  std::uint16_t turn_ = 0;      // counts calls of carry_out()
  errc why_{};
  client_side& side_;
  core::claim_sink& sink_;
  recipe recipe_;
  std::unique_ptr<details> details_;
  time_point seen_{};           // when the grant arrived
  std::uint32_t ticket_ = 0;    // of the renewal to send
  std::uint32_t answered_ = 0;  // of the renewal that set the deadline
};

}  // namespace holdfast::memory
