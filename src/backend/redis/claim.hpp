// One claim: the recipe, the link it speaks over and the core that listens.
#pragma once
#include <memory>
#include <new>
#include <string>

#include "backend/redis/claim_table.hpp"
#include "backend/redis/recipes/queueing.hpp"
#include "base/event_queue.hpp"
#include "base/timer_heap.hpp"
#include "seam/claim.hpp"

namespace holdfast::redis {

class link;

class claim final : public core::claim, public core::heap_timer, private core::event_source {
 public:
  claim(link&, std::string_view lock, core::claim_sink&);
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;
  ~claim() override = default;
  // The core may destroy a claim while another thread still has its hands on `news`.
  static void operator delete(claim*, std::destroying_delete_t);

  void acquire(const core::acquire_request&) override;
  void cancel() override;
  void renew(duration ttl, std::uint32_t ticket) override;
  void downgrade() override;
  void peek_line() override;
  void release(const core::successor* next) override;
  std::string owner() const override;

  // For the link, with its lock held.
  const std::string& lock() const noexcept { return lock_; }
  const claim_id& id() const noexcept { return id_; }
  owner_text text() const noexcept;  // of its id
  std::uint32_t permits() const noexcept { return permits_; }
  std::uint32_t of() const noexcept { return of_; }
  core::lock_group with() const noexcept { return with_; }
  const recipe& steps() const noexcept { return steps_; }
  claim_table::place place() const noexcept { return place_; }
  std::string_view note() const noexcept {
    return text_ && !has_failed_ ? std::string_view(*text_) : std::string_view();
  }
  bool is_being_told() const noexcept { return is_dispatching(); }
  void hear(const reply&, std::string error, std::uint32_t ticket, time_point now,
            core::event_queue&);
  void hear(const push&, time_point now, core::event_queue&);
  void hear_cut(std::uint32_t epoch, time_point now, core::event_queue&);
  void hear_subscribed(time_point now, core::event_queue&);
  void wake(time_point now, core::event_queue&);
  void overdue(const std::string& why, time_point now, core::event_queue&);
  void fail(errc, const std::string& why, time_point now, core::event_queue&);  // ends what waits

  operation parked = operation::none;  // what waits until it may be sent
  bool spoken = false;                 // the server has been sent this id
  bool renewing = false;               // in the link's list
  bool told_of_holder = false;         // a renewal has carried the note
  bool noted = false;                  // one may have
  bool hurried = false;  // parked: a connection was tried for it, since its time is nearly over

 private:
  bool was_waiting_ = false, was_pushable_ = false,
       was_listening_ = false;  // the small ones fill what `news` leaves free

 public:
  claim* next_of_id = nullptr;  // in the table
  std::uint32_t ticket = 0;     // of the renewal to send

 private:
  void on_event(core::claim_event) override;
  void on_retired() noexcept override;
  template <class Step>
  void verb(Step);
  void carry_out(actions, time_point now, core::event_queue&);
  void take_id();
  void drop_id() noexcept;
  core::failure reason();
  void set_error(std::string);

  std::uint32_t answered_ = 0;  // of the renewal that moved the deadline
  errc why_{};
  bool others_waited_ = false;  // at the grant
  bool has_failed_ = false;
  link& link_;
  core::claim_sink& sink_;
  const std::string lock_;
  claim_id id_;
  std::uint32_t permits_ = 1, of_ = 0;
  core::lock_group with_;  // while it is asked for with others
  claim_table::place place_;
  recipe steps_;
  std::unique_ptr<const std::string> text_;  // the note; or, once it has failed, why
};

}  // namespace holdfast::redis
