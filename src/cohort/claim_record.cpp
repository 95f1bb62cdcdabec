#include "cohort/claim_record.hpp"

#include <utility>

#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::cohort {

void claim_record::prepare(const acquire_request& r) {
  pending_verbs = 0;  // a stale cancel, overtaken by the answer, would withdraw the new claim
  has_successor = false;
  one_attempt = r.one_attempt;
  grant.prepare(r);
  const bool has_extra = !r.note.empty() || r.group;
  extra =
      has_extra
          ? std::make_unique<const extra_arguments>(extra_arguments{std::string(r.note), r.group})
          : nullptr;
}

void claim_record::on_granted(const seam::grant& g) {
  home.apply([&](cohort& c) {
    seam::grant received = g;
    const bool is_dated = g.received_at != time_point{};
    if (!is_dated && c.clock_matters()) received.received_at = home.client().env().now();
    c.on_granted(*this, received);
  });
}

void claim_record::on_refused(failure why) {
  home.apply([&](cohort& c) { c.on_refused(*this, why); });
}

void claim_record::on_extended(time_point deadline, std::uint32_t ticket) {
  home.apply([&](cohort& c) { c.on_extended(*this, deadline, ticket, home.client().env().now()); });
}

void claim_record::on_doubtful() {
  home.apply([&](cohort& c) { c.on_doubtful(*this, home.client().env().now()); });
}

void claim_record::on_lost(std::error_code why) {
  home.apply([&](cohort& c) { c.on_lost(*this, why); });
}

void claim_record::on_contended() {
  home.apply([&](cohort& c) { c.on_contended(*this); });
}

void claim_record::on_revocation_requested() {
  home.apply([&](cohort& c) { c.on_revocation_requested(*this); });
}

void claim_record::on_ended(failure why) {
  if (why.code) home.report_end(*this, why);
  home.apply([&](cohort& c) { c.on_ended(*this, why); });
}

claim_record& claim_records::idle_one() {
  for (claim_record* c = &first_; c; c = c->other.get())
    if (c->now == claim_record::state::idle) return *c;
  auto made = std::make_unique<claim_record>(first_.home);
  made->other = std::exchange(first_.other, nullptr);
  first_.other = std::move(made);
  return *first_.other;
}

bool claim_records::are_idle() const noexcept {
  const claim_record* c = &first_;
  while (c && c->now == claim_record::state::idle) c = c->other.get();
  return !c;
}

bool claim_records::is_held(const claim_record& c) const noexcept {
  const claim_record* at = held_;
  while (at && at != &c) at = at->next_held;
  return at != nullptr;
}

void claim_records::add_held(claim_record& c) noexcept { c.next_held = std::exchange(held_, &c); }

void claim_records::remove_held(claim_record& c) noexcept {
  claim_record** at = &held_;
  while (*at != &c) at = &(*at)->next_held;
  *at = std::exchange(c.next_held, nullptr);
}

}  // namespace holdfast::cohort
