// One claim: the recipe, the link it speaks over and the core that listens.
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

struct client_side {  // what the claims of one client share
  link wire;
  ledger unclear;
  gatherings together;
  bool closed = false;

  client_side(std::shared_ptr<server> s, core::environment& env, const terms& t)
      : wire(std::move(s), env, t), unclear(wire), together(wire) {}
};

class claim final : public core::claim, private listener, private news {
 public:
  claim(client_side&, std::string_view name, core::claim_sink&);
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;
  ~claim() override = default;
  // The core may destroy a claim while another thread still has its hands on `news`.
  static void operator delete(claim*, std::destroying_delete_t);

  void acquire(const core::ask&) override;
  void cancel() override;
  void renew(duration ttl, std::uint32_t ticket) override;
  void downgrade() override;
  void release(const core::succession* next) override;
  std::string owner() const override;

  // For the closing backend, with the server's mutex held.
  static claim* of(endpoint&, const client_side&) noexcept;
  bool waits() const noexcept { return steps_.waits(); }
  bool is_being_told() const noexcept { return being_told(); }
  void give_up(crier&);

 private:
  // What this claim asks for, beyond the usual.
  struct wish final : particulars {
    core::gathering with;  // until it is answered
    std::uint32_t is = 0;  // what it turned out to be; as in particulars
  };

  link& home() noexcept override { return side_.wire; }
  void hear(const reply&, time_point now, crier&) override;
  void hear(const push&, time_point now, crier&) override;
  void wake(time_point now, crier&) override;
  void say(tell) override;
  void give_back() noexcept override;
  template <class Step>
  void verb(Step step) {
    verb_at({}, step);
  }
  template <class Step>
  void verb_at(time_point, Step);  // {}: at what the clock says
  errc note_wish(const core::ask&);
  bool release_undated(crier&);
  void carry_out(const actions&, time_point now, crier&);
  void send(operation, time_point now, crier&);
  void detach() noexcept;
  core::failure reason() const;
  std::string mismatch() const;

  // These fit into what `news` leaves free of its last eight bytes.
  bool others_waited_ = false;  // at the grant
  std::uint16_t turn_ = 0;      // counts what was carried out
  errc why_{};
  client_side& side_;
  core::claim_sink& sink_;
  recipe steps_;
  std::unique_ptr<wish> wish_;
  time_point seen_{};           // when the grant arrived
  std::uint32_t ticket_ = 0;    // of the renewal to send
  std::uint32_t answered_ = 0;  // of the renewal that moved the deadline
};

}  // namespace holdfast::memory
