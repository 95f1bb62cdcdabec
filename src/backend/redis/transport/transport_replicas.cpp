// The transport's part of replica_wait.hpp: what is held back, and what counts then.
#include <algorithm>
#include <utility>

#include "backend/redis/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

// With the master itself they are most of the servers.
void transport::note_replicas(std::size_t count) noexcept {
  known_replicas_ = std::max(known_replicas_, count);
  if (wait_ && endpoint_.by_majority)
    wait_->set_count(std::max<std::size_t>(1, (known_replicas_ + 1) / 2));
}

bool transport::is_commands_server(const server_identity& s) const {
  return commands_.is_ready() && s.is_same_process(lineage_.leader());
}

bool transport::has_held() const noexcept {
  return commands_.has_held() || renewals_.has_held() || !held_messages_.empty();
}

void transport::on_asked() {
  commands_.mark_held();
  renewals_.mark_held();
  marked_messages_ = held_messages_.size();
}

void transport::on_covered(time_point now, base::event_queue& events) {
  if (std::exchange(is_lacking_replicas_, false)) note_accepted(now);
  commands_.release_marked(now, events);
  renewals_.release_marked(now, events);
  // A handler may end the connection that they came over.
  const auto end = held_messages_.begin() + static_cast<std::ptrdiff_t>(marked_messages_);
  const std::vector<held_message> marked(std::move_iterator(held_messages_.begin()),
                                         std::move_iterator(end));
  held_messages_.erase(held_messages_.begin(), end);
  marked_messages_ = 0;
  for (const held_message& m : marked) subscriptions_.on_message(m.channel, m.payload, now, events);
}

std::string transport::why_silent(const connection& c) const {
  if (!c.has_held()) return connection_owner::why_silent(c);
  if (is_lacking_replicas_) return std::string(reach_.refusal());
  return "the replicas have not confirmed what the server answered";
}

void transport::on_lacking(std::string why, time_point now) {
  is_lacking_replicas_ = true;
  note_refusal(std::move(why), now);
}

void transport::on_message(std::string_view channel, std::string_view payload, time_point now,
                           base::event_queue& events) {
  if (!wait_ || base::planted(base::mutant::push_before_replicas))
    return subscriptions_.on_message(channel, payload, now, events);
  held_messages_.push_back({std::string(channel), std::string(payload)});
  wait_->ask_at_once(now);
}

}  // namespace holdfast::redis
