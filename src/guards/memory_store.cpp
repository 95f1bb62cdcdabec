#include <holdfast/client.hpp>
#include <holdfast/memory.hpp>

#include <algorithm>
#include <optional>

#include "api/client_access.hpp"
#include "backend/memory/shared_servers.hpp"
#include "backend/memory/shifted_environment.hpp"
#include "backend/memory/transport.hpp"
#include "base/fail.hpp"
#include "base/percent.hpp"
#include "cohort/client_impl.hpp"
#include "seam/name.hpp"

namespace holdfast {
inline namespace v0 {

namespace {

using holdfast::memory::event_queue;
using holdfast::memory::server;

template <class Change>
void change_faults(server& s, Change change) {
  const std::lock_guard guard(s.mutex);
  change(s.faults);
  s.faults_changed();
}

// `change` gets the events of the clients that it concerns.
template <class Change>
void change_data(server& s, Change change) {
  event_queue events;
  {
    const std::lock_guard guard(s.mutex);
    change(events);
  }
  events.dispatch();
}

holdfast::memory::transport& transport_of(const client& c, server& s) {
  seam::lock_store* const locks = c ? detail::client_access::impl(c).rules().locks : nullptr;
  auto* const ours = locks ? locks->find<holdfast::memory::transport>() : nullptr;
  if (!ours || &ours->at() != &s)
    base::fail(errc::bad_option, "memory_store", "the client was opened with another URL", {},
               c.url_text());
  return *ours;
}

}  // namespace

memory_store::memory_store(std::string_view name) : name_(name) {
  if (const auto fault = seam::name_fault(name); !fault.empty())
    base::fail(errc::bad_name, "memory_store", std::string(fault));
  state_ = holdfast::memory::shared_server(name);
}

memory_store::memory_store(std::string_view name, std::error_code& ec) {
  const auto found = base::in_either_form(&ec, [&] { return std::optional<memory_store>(name); });
  if (found) {
    *this = *found;
  } else {
    state_ = std::make_shared<server>();
  }
}

std::string memory_store::url() const { return "memory:" + base::percent_encode(name_); }

void memory_store::set_latency(std::chrono::milliseconds one_way) {
  change_faults(*state_, [&](auto& plan) { plan.latency = std::max(one_way, one_way.zero()); });
}

void memory_store::advance(std::chrono::nanoseconds d) {
  if (name_.empty()) return;
  holdfast::memory::environment_of(name_).advance(d);
}

void memory_store::lose_requests(std::uint32_t count) {
  change_faults(*state_, [&](auto& plan) { plan.requests_to_lose = count; });
}

void memory_store::lose_replies(std::uint32_t count) {
  change_faults(*state_, [&](auto& plan) { plan.replies_to_lose = count; });
}

void memory_store::lose_at_random(std::uint64_t seed, double requests, double replies) {
  change_faults(*state_, [&](auto& plan) {
    plan.random_state = seed;
    plan.lose_requests = requests;
    plan.lose_replies = replies;
  });
}

void memory_store::begin_outage() {
  change_faults(*state_, [](auto& plan) { plan.outage = true; });
}

void memory_store::end_outage() {
  change_faults(*state_, [](auto& plan) { plan.outage = false; });
  change_data(*state_, [&](event_queue& events) { state_->announce_restart(events); });
}

void memory_store::stop_requests_of(const client& c) {
  auto& over = transport_of(c, *state_);
  const std::lock_guard guard(state_->mutex);
  over.cut_off(true);
}

void memory_store::stop_requests_of(const client& c, std::error_code& ec) {
  base::in_either_form(&ec, [&] { stop_requests_of(c); });
}

void memory_store::resume_requests_of(const client& c) {
  auto& over = transport_of(c, *state_);
  change_data(*state_, [&](event_queue& events) {
    over.cut_off(false);
    state_->announce_restart(events, &over);
  });
}

void memory_store::resume_requests_of(const client& c, std::error_code& ec) {
  base::in_either_form(&ec, [&] { resume_requests_of(c); });
}

void memory_store::snapshot() {
  const std::lock_guard guard(state_->mutex);
  state_->data.snapshot();
}

void memory_store::fail_over() {
  change_data(*state_, [&](event_queue& events) {
    state_->data.fail_over();
    state_->announce_restart(events);
  });
}

void memory_store::restart_empty() {
  change_data(*state_, [&](event_queue& events) {
    state_->data.restart_empty();
    state_->announce_restart(events);
  });
}

bool memory_store::remove(std::string_view lock) {
  bool taken = false;
  change_data(*state_, [&](event_queue& events) {
    taken = state_->break_lock(lock, holdfast::memory::environment_of(name_), events);
  });
  return taken;
}

}  // namespace v0
}  // namespace holdfast
