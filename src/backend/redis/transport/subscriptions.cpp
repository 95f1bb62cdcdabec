#include "backend/redis/transport/subscriptions.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::event_queue;
using namespace std::chrono_literals;

namespace {

constexpr duration kept_unused = 1s;

}  // namespace

void subscriptions::add(std::string_view name, message_handler& h) {
  auto found = channels_.find(name);
  if (found == channels_.end()) found = channels_.emplace(name, channel{}).first;
  found->second.handlers.push_back(&h);
  found->second.unused_until = core::never;
}

void subscriptions::remove(std::string_view name, message_handler& h, time_point now) {
  const auto found = channels_.find(name);
  if (found == channels_.end()) return;
  channel& c = found->second;
  if (std::erase(c.handlers, &h) > 0 && c.handlers.empty()) keep_unused(name, c, now);
}

void subscriptions::keep_unused(std::string_view name, channel& c, time_point now) {
  c.unused_until = core::saturating_add(now, kept_unused);
  unused_.push_back({c.unused_until, std::string(name)});
}

bool subscriptions::is_active(std::string_view name) const noexcept {
  const auto found = channels_.find(name);
  return found != channels_.end() && found->second.is_active;
}

void subscriptions::on_confirmed(std::string_view name) noexcept {
  const auto found = channels_.find(name);
  if (found != channels_.end()) found->second.is_active = found->second.is_requested;
}

// A handler may add and remove others, and itself.
template <class Call>
void subscriptions::call_each(std::string_view name, Call call) {
  for (std::size_t i = 0;; ++i) {
    const auto found = channels_.find(name);
    if (found == channels_.end() || i >= found->second.handlers.size()) return;
    message_handler* const h = found->second.handlers[i];
    call(*h);
    const auto after = channels_.find(name);
    const bool has_left = after != channels_.end() &&
                          (i >= after->second.handlers.size() || after->second.handlers[i] != h);
    if (has_left) --i;
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

void subscriptions::on_lost() noexcept {
  for (auto& [name, c] : channels_) c.is_requested = c.is_active = false;
}

}  // namespace holdfast::redis
