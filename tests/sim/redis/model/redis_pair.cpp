#include "tests/sim/redis/model/redis_pair.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {

redis_pair::redis_pair(model_redis::wall_clock clock, std::function<void()> on_effects,
                       wait_begun on_wait)
    : on_effects_(std::move(on_effects)),
      servers_{std::make_unique<model_redis>(clock, 1), std::make_unique<model_redis>(clock, 2)} {
  if (on_wait)
    for (const int i : {0, 1})
      inside(i).on_wait = [i, on_wait](std::chrono::milliseconds limit) { on_wait(i, limit); };
  follow(1);
}

server& redis_pair::inside(int number) const { return *at(number).server_; }

bool redis_pair::is_replica(int server) const { return inside(server).readonly; }

std::optional<int> redis_pair::replica() const {
  for (const int i : {0, 1})
    if (inside(i).readonly && inside(i).replicates.is_linked) return i;
  return std::nullopt;
}

void redis_pair::deliver_next() {
  const std::optional<int> to = replica();
  if (under_way_.empty() || !to) return;
  const effects next = std::move(under_way_.front());
  under_way_.pop_front();
  server& s = inside(*to);
  if (next.data) s.databases = *next.data;
  ++s.replicates.offset;
  delivered_ = next.number;
  for (const auto& [channel, text] : next.messages) s.publish(channel, text);
  s.deliver_all();
}

void redis_pair::deliver_all() {
  while (is_under_way()) deliver_next();
}

// One that comes from an earlier link is of older data.
void redis_pair::confirm(int master, std::int64_t number) {
  server& s = inside(master);
  s.confirmed = std::max(s.confirmed, number);
  answer_waits(master);
}

void redis_pair::answer_waits(int server) { at(server).answer_waits(); }

void redis_pair::send_effects_of(int master) {
  inside(master).to_replica = [this](effects e) {
    under_way_.push_back(std::move(e));
    on_effects_();
  };
}

void redis_pair::promote(int number, bool is_cut) {
  server& s = inside(number);
  server& other = inside(1 - number);
  if (!s.readonly) return;
  under_way_.clear();
  other.to_replica = nullptr;
  if (is_cut) {
    other.look_at_clock();
    other.replicates.heard_at = other.now();
  } else {
    other.replicates.replicas.clear();
  }
  s.readonly = s.replicates.is_linked = false;
  s.replicates.begin_reign(s.new_replication_id());
}

void redis_pair::follow(int number) {
  server& s = inside(number);
  server& master = inside(1 - number);
  if (s.readonly || master.readonly) return;
  if (!std::exchange(master.replicates.has_backlog, true))
    master.replicates.change_id(master.new_replication_id());
  replication& mine = s.replicates;
  mine.is_prefix_of(master.replicates) ? mine.continue_as_replica_of(master.replicates)
                                       : mine.copy_history_of(master.replicates);
  s.to_replica = nullptr;
  s.databases = master.databases;
  s.readonly = mine.is_linked = mine.has_backlog = true;
  mine.master = master.address;
  mine.replicas.clear();
  master.replicates.replicas = {s.address};
  master.replicates.heard_at = {};
  master.confirmed = delivered_ = master.sent;
  send_effects_of(1 - number);
  at(number).abort_waits();
  answer_waits(1 - number);
}

void redis_pair::begin_failover() {
  if (const auto to = replica())
    inside(1 - *to).holds_writes = inside(1 - *to).replicates.is_failing_over = true;
}

void redis_pair::end_failover() {
  const auto to = replica();
  if (!to || !inside(1 - *to).holds_writes) return;
  server& old = inside(1 - *to);
  deliver_all();
  confirm(1 - *to, delivered_);
  promote(*to);
  old.holds_writes = old.replicates.is_failing_over = false;
  follow(1 - *to);
  at(1 - *to).run_held();
}

void redis_pair::restart(int number) {
  server& s = inside(number);
  if (s.holds_writes) return;
  deliver_all();
  at(number).restart(kept::everything);
  if (s.readonly) return;
  s.replicates.begin_reign(s.new_replication_id());
  const auto to = replica();
  if (!to) return;
  inside(*to).replicates.continue_as_replica_of(s.replicates);
  s.confirmed = delivered_;
}

void redis_pair::empty_replica() {
  const auto number = replica();
  if (!number) return;
  server& s = inside(*number);
  server& master = inside(1 - *number);
  under_way_.clear();
  master.to_replica = nullptr;
  master.replicates.replicas.clear();
  at(*number).restart(kept::nothing);
  s.readonly = false;
  s.replicates = {.id = s.new_replication_id()};
}

void redis_pair::change_id(int number) {
  server& s = inside(number);
  if (!s.readonly) s.replicates.change_id(s.new_replication_id());
}

}  // namespace holdfast::sim
