// A failover that loses nothing closes no connection: a waiter may still listen at the demoted
// master, which publishes what is published at the new one.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "tests/fault/call_recorder.hpp"
#include "two_servers.hpp"

namespace holdfast::redis_test {
namespace {

using fault_test::call_recorder;

class redis_lineage_push : public on_redis {};

client client_through(const floating_name& name) {
  return client::open(name.url() + "?retry-base=2ms&ttl=10m&op-timeout=60s");
}

bool has_lane(const floating_name& name, redis_server& at, const std::string& lane) {
  return std::ranges::count(name.lanes_at(at), lane) > 0;
}

// A connection for messages stays silent: the server never hears its greeting.
void swallow_greeting_of_messages(std::string& bytes) {
  if (bytes.find("holdfast-messages") != bytes.npos) bytes.clear();
}

// A client that waits for the lock "x", and leaves when it is told to.
class queued_client {
 public:
  queued_client(call_recorder& calls, const redis_server& at, std::string process)
      : name(at), calls_(calls), process_(std::move(process)), client_(client_through(name)) {}

  void wait() {
    thread_ = std::jthread([this](std::stop_token stop) {
      lease got = calls_.acquire_until(std::move(stop), process_, client_, "x");
      const std::lock_guard guard(mutex_);
      held_ = std::move(got);
    });
  }
  bool has_lease() {
    const std::lock_guard guard(mutex_);
    return static_cast<bool>(held_);
  }
  void check() {
    const std::lock_guard guard(mutex_);
    if (held_) calls_.check(process_, held_);
  }
  void leave() {
    thread_.request_stop();
    thread_.join();
    if (held_) calls_.release(process_, held_);
  }

  floating_name name;

 private:
  call_recorder& calls_;
  const std::string process_;
  const client client_;
  std::mutex mutex_;
  lease held_;
  std::jthread thread_;
};

// The next waiter listens at the demoted master alone when the new one hands the lock over: that
// one finds that nobody listens, takes the grant back, and the lock is free for another client.
void hand_over_after_a_failover(bool commands_have_moved) {
  two_servers of;
  call_recorder calls;
  floating_name holders(of.a);
  const auto holding = client_through(holders);
  lease held = calls.acquire("holder", holding, "x");
  queued_client deaf(calls, of.a, "deaf");
  deaf.wait();
  EXPECT_TRUE(eventually_queued(of.a, 1));
  EXPECT_TRUE(eventually([&] { return has_lane(deaf.name, of.a, "messages"); }));

  of.a.fail_over_to(of.b);
  // A message has come to the next waiter; and it has sent something since.
  const auto is_told = std::make_shared<std::atomic<bool>>(false);
  const auto has_asked = std::make_shared<std::atomic<bool>>(false);
  deaf.name.proxy.set(direction::to_client, {.mutate = [is_told](std::string& bytes) {
                        if (bytes.find("\r\nmessage\r\n") != bytes.npos) *is_told = true;
                      }});
  deaf.name.proxy.set(direction::to_server, {.mutate = [is_told, has_asked](std::string&) {
                        if (*is_told) *has_asked = true;
                      }});
  if (commands_have_moved) {
    deaf.name.proxy.set(direction::to_server, {.mutate = swallow_greeting_of_messages},
                        applies_to::new_connections);
    deaf.name.lead_to(of.b);
    deaf.name.cut(of.a, "commands");
    EXPECT_TRUE(eventually([&] { return has_lane(deaf.name, of.b, "commands"); }));
  }
  holders.move_to(of.b);
  EXPECT_TRUE(eventually([&] { return has_lane(holders, of.b, "commands"); }));
  calls.release("holder", held);
  queued_client next(calls, of.b, "next");
  next.wait();
  EXPECT_TRUE(eventually([&] { return next.has_lease(); }));
  EXPECT_TRUE(commands_have_moved || eventually([&] { return deaf.has_lease() || *has_asked; }));
  deaf.name.proxy.set_both({});
  deaf.name.move_to(of.b);
  // It queues at the new master, unless it believes that it has the lock.
  EXPECT_TRUE(eventually([&] {
    next.check();
    deaf.check();
    return deaf.has_lease() || of.b.command({"ZCARD", "holdfast:{x}:x:q"}).number == 1;
  }));
  next.check();
  next.leave();
  EXPECT_TRUE(eventually([&] { return deaf.has_lease(); }));
  deaf.leave();
  EXPECT_EQ(to_text(calls.violations()), "");
}

TEST_F(redis_lineage_push, that_the_new_master_took_back_is_not_believed_at_the_demoted_one) {
  hand_over_after_a_failover(false);
}

TEST_F(redis_lineage_push, that_the_new_master_took_back_is_not_believed_by_a_client_between_two) {
  hand_over_after_a_failover(true);
}

}  // namespace
}  // namespace holdfast::redis_test
