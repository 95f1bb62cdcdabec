#include "tests/interop/zookeeper/contender.hpp"

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::zookeeper_wire {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::minutes wait_bound{1};

class ours final : public contender {
 public:
  ours(const zookeeper_server& server, const kind& k)
      : kind_(k),
        proxy_(server.port()),
        client_(client::open("zookeeper://127.0.0.1:" + std::to_string(proxy_.port()) +
                             "?session-timeout=" + k.session + "&layout=" + k.layout)) {}

  std::string name() const override { return "holdfast"; }
  bool is_ours() const override { return true; }

  void hold() override {
    held_ = take(wait_bound);
    EXPECT_TRUE(held_);
  }

  bool try_once() override {
    auto got = take(0ms);
    const bool had = got.held();
    if (had) got.release();
    return had;
  }

  std::shared_future<clock::time_point> wait() override {
    return std::async(std::launch::async,
                      [this] {
                        held_ = take(wait_bound);
                        const auto at = clock::now();
                        EXPECT_TRUE(held_.held());
                        return at;
                      })
        .share();
  }

  bool release() override {
    std::error_code ec;
    held_.release(ec);
    EXPECT_TRUE(!ec || ec == outcome::lost) << ec.message();
    return !ec;
  }

  bool believes() override { return held_.held(); }
  void lose_session() override { proxy_.set_both({.hold = true}); }
  void recover() override {
    proxy_.set_both({});
    EXPECT_TRUE(eventually([this] {
      std::error_code ec;
      (void)client_.holders("x", ec);
      return !ec;
    }));
  }
  void downgrade() override { held_ = client_.shared_mutex("x").downgrade(std::move(held_)); }

 private:
  lease take(std::chrono::milliseconds bound) const {
    if (kind_.permits > 0) return client_.semaphore("x", kind_.permits).try_acquire_for(bound);
    if (kind_.type.starts_with("read"))
      return client_.shared_mutex("x").try_acquire_shared_for(bound);
    if (kind_.type.starts_with("write")) return client_.shared_mutex("x").try_acquire_for(bound);
    return client_.mutex("x").try_acquire_for(bound);
  }

  kind kind_;
  testkit::tcp_proxy proxy_;
  client client_;
  lease held_;
};

class theirs final : public contender {
 public:
  theirs(const zookeeper_server& server, const kind& k)
      : is_curator_(k.of == library::curator),
        lock_(k.type + " /x"),
        client_(is_curator_ ? curator() : kazoo(), address_of(server)) {}

  std::string name() const override { return is_curator_ ? "Curator" : "kazoo"; }
  bool is_ours() const override { return false; }

  void hold() override { EXPECT_EQ(client_.ask("t", "lock " + lock_), ""); }

  bool try_once() override {
    if (!is_true(client_.ask("t", "try " + lock_ + " 0"))) return false;
    EXPECT_TRUE(release());
    return true;
  }

  std::shared_future<clock::time_point> wait() override {
    const call waiting = client_.send("t", "lock " + lock_);
    return std::async(std::launch::async,
                      [waiting] {
                        const auto answer = waiting.wait();
                        EXPECT_TRUE(answer.ok) << answer.text;
                        return answer.at;
                      })
        .share();
  }

  bool is_asleep() override { return client_.is_asleep("t"); }

  bool release() override {
    const std::string said = client_.ask("t", "unlock " + lock_);
    return is_curator_ ? said.empty() : is_true(said) || said.empty();
  }

  bool believes() override { return is_true(client_.ask("t", "held " + lock_)); }

  void lose_session() override {
    lost_ = client_.ask("session");
    client_.end_session();
  }
  void recover() override { client_.wait_for_session_after(lost_); }

  void downgrade() override {
    EXPECT_EQ(client_.ask("t", "lock read /x"), "");
    EXPECT_EQ(client_.ask("t", "unlock write /x"), "");
    lock_ = "read /x";
  }

 private:
  static bool is_true(const std::string& answer) { return answer == "true" || answer == "True"; }

  bool is_curator_;
  std::string lock_;
  peer_client client_;
  std::string lost_;
};

}  // namespace

std::unique_ptr<contender> contender_of_ours(const zookeeper_server& server, const kind& k) {
  return std::make_unique<ours>(server, k);
}

std::unique_ptr<contender> contender_of_theirs(const zookeeper_server& server, const kind& k) {
  return std::make_unique<theirs>(server, k);
}

}  // namespace holdfast::zookeeper_wire
