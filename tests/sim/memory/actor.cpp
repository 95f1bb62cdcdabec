#include "tests/sim/memory/actor.hpp"

#include <utility>

namespace holdfast::sim {

memory_actor::memory_actor(seam::lock_store& store, std::string name, int client, int number,
                           memory_log& log)
    : name_(std::move(name)),
      client_(client),
      number_(number),
      log_(log),
      claim_(store.open(name_, *this)) {}

void memory_actor::note(const std::string& what) {
  log_.note("claim " + std::to_string(number_) + " of " + name_ + ' ' + what);
}

void memory_actor::begin(const seam::acquire_request& how) {
  note("acquires, mode " + std::to_string(static_cast<int>(how.mode)) + ", permits " +
       std::to_string(how.permits) + ", ttl " + std::to_string(how.ttl.count()) +
       (how.one_attempt ? ", one attempt" : "") + (how.group ? ", with others" : ""));
  state_ = state::asking;
  mode_ = how.mode;
  is_lost_ = false;
}

void memory_actor::acquire(const seam::acquire_request& how) {
  begin(how);
  claim_->acquire(how);
}

void memory_actor::cancel() {
  note("cancels");
  state_ = state::canceling;
  claim_->cancel();
}

void memory_actor::renew(base::duration ttl) {
  note("renews, ttl " + std::to_string(ttl.count()));
  claim_->renew(ttl, ++ticket_);
}

void memory_actor::downgrade() {
  note("downgrades");
  mode_ = lock_mode::shared;
  claim_->downgrade();
}

void memory_actor::release(memory_actor* next, const seam::acquire_request& how) {
  note(next ? "releases, next is claim " + std::to_string(next->number_) : "releases");
  state_ = state::releasing;
  if (!next) return claim_->release(nullptr);
  next->begin(how);
  const seam::successor heir{next->claim_.get(), how};
  claim_->release(&heir);
}

void memory_actor::on_granted(const seam::grant& g) {
  state_ = state::held;
  note("is granted " + std::to_string(g.number) + ", deadline " +
       std::to_string(g.deadline.time_since_epoch().count()) + ", seen " +
       std::to_string(g.received_at.time_since_epoch().count()) +
       (g.others_wait ? ", others wait" : "") + (g.provisional ? ", handed" : ""));
}

void memory_actor::on_refused(base::failure f) {
  state_ = state::idle;
  note("is refused, " + std::to_string(f.code.value()));
}

void memory_actor::on_extended(base::time_point deadline, std::uint32_t ticket) {
  note("is renewed, ticket " + std::to_string(ticket) + ", deadline " +
       std::to_string(deadline.time_since_epoch().count()));
}

void memory_actor::on_lost(std::error_code why) {
  is_lost_ = true;
  note("has lost, " + std::to_string(why.value()));
}

void memory_actor::on_ended(base::failure f) {
  state_ = state::idle;
  note("has ended, " + std::to_string(f.code.value()));
}

}  // namespace holdfast::sim
