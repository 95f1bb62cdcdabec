// Shared by the tests of locks at a real ZooKeeper.
#pragma once
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "fixture.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {

// One server for all cases of a program, and a raw session that makes and sees nodes. Each case has
// a part of the tree for itself.
class locks_at_zookeeper : public on_zookeeper {
 protected:
  void SetUp() override {
    on_zookeeper::SetUp();
    if (IsSkipped()) return;
    static int cases = 0;
    root_ = "/case" + std::to_string(++cases);
    raw_ = std::make_unique<session_client>(server().url());
    raw_->open();
    ASSERT_EQ(raw_->create(root_).code, error::ok);
  }

  static zookeeper_server& server() {
    static zookeeper_server one({.config = {"maxSessionTimeout=40000"},
                                 .properties = {"znode.container.checkIntervalMs=20"}});
    return one;
  }
  // At this port, in this case's part of the tree.
  std::string url_at(int port, const std::string& options = "session-timeout=10s") const {
    return at_port(port, root_ + "?" + options);
  }
  std::string url(const std::string& options = "session-timeout=10s") const {
    return url_at(server().port(), options);
  }
  std::string path(const std::string& below) const { return root_ + "/" + below; }
  std::vector<std::string> nodes_of(const std::string& lock);
  session_client& raw() { return *raw_; }

  // `holder`, behind `its_proxy`, is cut off until `waiter` has the lock "x"; what both were told
  // is judged as a history. `waits`: that the waiter has come to its wait.
  void expect_loss_known_before_the_next_grant(const client& holder, tcp_proxy& its_proxy,
                                               const client& waiter,
                                               const std::function<bool()>& waits);

 private:
  std::string root_;
  std::unique_ptr<session_client> raw_;
};

inline std::vector<std::string> locks_at_zookeeper::nodes_of(const std::string& lock) {
  std::string body;
  zookeeper::append_watched_path(body, path(lock), false);
  const answer a = raw().call(opcode::get_children2, body);
  const auto all = zookeeper::read_children(a.bytes());
  if (a.code != error::ok || !all) return {};
  return {all->names.begin(), all->names.end()};
}

inline void locks_at_zookeeper::expect_loss_known_before_the_next_grant(
    const client& holder, tcp_proxy& its_proxy, const client& waiter,
    const std::function<bool()>& waits) {
  fault_test::call_recorder calls;
  lease held = calls.acquire("a", holder, "x"), got;
  std::atomic<bool> is_granted{false};
  std::thread next([&] {
    got = calls.acquire("b", waiter, "x");
    is_granted = true;
  });
  EXPECT_TRUE(eventually(waits));
  its_proxy.set_both({.hold = true});
  EXPECT_TRUE(eventually([&] {
    const bool was_granted = is_granted;
    calls.check("a", held);
    return was_granted;
  }));
  next.join();
  EXPECT_EQ(held.status(), errc::lost);
  its_proxy.set_both({});
  EXPECT_EQ(calls.release("a", held), errc::lost);
  EXPECT_TRUE(calls.check("b", got));
  EXPECT_FALSE(calls.release("b", got));
  EXPECT_EQ(to_text(calls.violations()), "");
}

// A thread that acquires once; the test sees when it has.
class waiting_thread {
 public:
  explicit waiting_thread(mutex& m)
      : thread_([this, &m] {
          std::error_code failed;
          lease_ = m.acquire({}, failed);
          code = failed;
          is_done = true;
        }) {}
  ~waiting_thread() { join(); }
  lease& join() {
    if (thread_.joinable()) thread_.join();
    return lease_;
  }

  std::atomic<bool> is_done{false};
  std::error_code code;

 private:
  lease lease_;
  std::thread thread_;
};

}  // namespace holdfast::zookeeper_test
