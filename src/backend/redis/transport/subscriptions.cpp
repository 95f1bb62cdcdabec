#include "backend/redis/transport/subscriptions.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using namespace std::chrono_literals;

namespace {

constexpr duration kept_unused = 1s;

}  // namespace

void subscriptions::add(std::string_view name, message_handler& h, channel_kind kind) {
  auto found = channels_.find(name);
  if (found == channels_.end()) found = channels_.emplace(name, channel{}).first;
  found->second.handlers.push_back(&h);
  found->second.kind = kind;
  found->second.unused_until = base::never;
}

void subscriptions::remove(std::string_view name, message_handler& h, time_point now) {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return;
  channel& c = found->second;
  if (std::erase(c.handlers, &h) > 0 && c.handlers.empty()) keep_unused(name, c, now);
}

void subscriptions::keep_unused(std::string_view name, channel& c, time_point now) {
  c.unused_until = base::saturating_add(now, kept_unused);
  unused_.push_back({c.unused_until, std::string(name)});
}

bool subscriptions::is_active(std::string_view name) const noexcept {
  const auto found = channels_.find(name);
  return found != channels_.end() && found->second.is_active;
}

bool subscriptions::is_sharded(std::string_view name) const noexcept {
  const auto found = channels_.find(name);
  return found != channels_.end() && found->second.kind == channel_kind::sharded;
}

void subscriptions::on_confirmed(std::string_view name) noexcept {
  const auto found = channels_.find(name);
  if (found != channels_.end()) found->second.is_active = found->second.is_requested;
}

void subscriptions::on_refused() noexcept {
  for (auto& [name, c] : channels_) c.is_requested = c.is_active;
}

// A handler may add and remove others, and itself.
template <class Call>
void subscriptions::call_each(std::string_view name, Call call) {
  const auto first = channels_.find(name);
  if (first == channels_.end() || first->second.handlers.empty()) return;
  if (first->second.handlers.size() == 1) return call(*first->second.handlers.front());
  const std::vector<message_handler*> before = first->second.handlers;
  for (message_handler* const h : before) {
    const auto now = channels_.find(name);
    if (now == channels_.end()) return;
    if (std::ranges::find(now->second.handlers, h) != now->second.handlers.end()) call(*h);
  }
}

void subscriptions::notify_subscribed(std::string_view name, time_point now, event_queue& events) {
  if (is_active(name)) call_each(name, [&](message_handler& h) { h.on_subscribed(now, events); });
}

void subscriptions::notify_subscribed(time_point now, event_queue& events) {
  std::vector<std::string> names;
  names.reserve(channels_.size());
  for (const auto& [name, c] : channels_) names.push_back(name);
  for (const std::string& name : names) notify_subscribed(name, now, events);
}

void subscriptions::on_message(std::string_view name, std::string_view payload, time_point now,
                               event_queue& events) {
  call_each(name, [&](message_handler& h) { h.on_message(payload, now, events); });
}

bool subscriptions::on_ended(std::string_view name, time_point now, event_queue& events) {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return false;
  found->second.is_requested = found->second.is_active = false;
  call_each(name, [&](message_handler& h) { h.on_unsubscribed(now, events); });
  return true;
}

void subscriptions::on_lost() noexcept {
  for (auto& [name, c] : channels_) c.is_requested = c.is_active = false;
  if (!base::planted(base::mutant::own_channel_kept)) own_.clear();
}

void subscriptions::renew_own(std::uint64_t random) {
  if (own_.empty()) own_ = "hf:own:" + std::to_string(random);
}

}  // namespace holdfast::redis
