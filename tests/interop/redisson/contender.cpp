#include "tests/interop/redisson/contender.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::minutes wait_bound{1};

class ours final : public contender {
 public:
  ours(const deployment& on, const kind& k)
      : kind_(k),
        client_(client::open(on.url + "?layout=" + k.layout +
                             "&ttl=" + std::to_string(own_ttl.count()) + "ms")) {}

  std::string name() const override { return "holdfast"; }
  std::string type() const override { return kind_.type; }

  void hold(milliseconds lease) override {
    acquire_options o;
    if (lease != renewed) o = {.ttl = lease, .renew = renewal::manual};
    held_ = take(o, wait_bound);
    EXPECT_TRUE(held_);
  }

  bool try_once() override {
    auto got = take({}, 0ms);
    const bool had = got.held();
    if (had) got.release();
    return had;
  }

  std::shared_future<clock::time_point> wait() override {
    return std::async(std::launch::async,
                      [this] {
                        held_ = take({}, wait_bound);
                        const auto at = clock::now();
                        EXPECT_TRUE(held_.held());
                        return at;
                      })
        .share();
  }

  released release() override {
    released r{clock::now()};
    std::error_code ec;
    held_.release(ec);
    r.was_held = !ec;
    EXPECT_TRUE(!ec || ec == outcome::lost) << ec.message();
    return r;
  }

  bool force(const std::string&) override {
    bool broken = false;
    for (const holder& h : client_.holders("x"))
      broken = client_.break_lock("x", h.owner) || broken;
    return broken;
  }

  void downgrade() override { held_ = client_.shared_mutex("x").downgrade(std::move(held_)); }

 private:
  lease take(const acquire_options& o, milliseconds bound) const {
    if (kind_.permits > 0) return client_.semaphore("x", kind_.permits).try_acquire_for(bound, o);
    if (kind_.type == "read") return client_.shared_mutex("x").try_acquire_shared_for(bound, o);
    if (kind_.type == "write") return client_.shared_mutex("x").try_acquire_for(bound, o);
    if (kind_.recursive) return client_.recursive_mutex("x").try_acquire_for(bound, o);
    return client_.mutex("x").try_acquire_for(bound, o);
  }

  kind kind_;
  client client_;
  lease held_;
};

class theirs final : public contender {
 public:
  theirs(const deployment& on, const kind& k)
      : kind_(k), client_(on, "watchdog=" + std::to_string(own_ttl.count())) {}

  std::string name() const override { return "Redisson"; }
  std::string type() const override { return kind_.type; }

  void hold(milliseconds lease) override {
    const std::string ms = std::to_string(lease == renewed ? -1 : lease.count());
    keep(client_.send("t", "lock " + lock() + ' ' + ms).wait());
  }

  bool try_once() override {
    const std::string got = client_.ask("t", "try " + lock() + " 0 60000");
    if (got == "false" || got == "-") return false;
    if (kind_.permits > 0) id_ = got;
    EXPECT_TRUE(release().was_held) << got;
    return true;
  }

  std::shared_future<clock::time_point> wait() override {
    const std::string lease = kind_.permits > 0 ? " 60000" : " -1";
    const call waiting = client_.send("t", "lock " + lock() + lease);
    return std::async(std::launch::async, [this, waiting] { return keep(waiting.wait()); }).share();
  }

  bool is_asleep() override { return client_.ask("other", "asleep t") == "true"; }

  released release() override {
    const auto begun = clock::now();
    std::string words = "unlock " + lock();
    if (kind_.permits > 0) words += ' ' + id_;
    const std::string said = client_.ask("t", words);
    EXPECT_TRUE(!said.starts_with("failed") ||
                said.starts_with("failed: IllegalMonitorStateException"))
        << said;
    return {begun, said.empty() || said == "true"};
  }

  bool force(const std::string& type) override {
    return client_.ask("other", "force " + type + " x") == "true";
  }

  void downgrade() override {
    EXPECT_EQ(client_.ask("t", "lock read x -1"), "");
    EXPECT_EQ(client_.ask("t", "unlock write x"), "");
    kind_.type = "read";
  }

 private:
  std::string lock() const { return kind_.type + " x"; }
  clock::time_point keep(const testkit::peer_answer& answer) {
    EXPECT_TRUE(answer.ok) << answer.text;
    id_ = answer.text;
    return answer.at;
  }

  kind kind_;
  redisson_client client_;
  std::string id_;  // of a permit
};

}  // namespace

std::unique_ptr<contender> contender_of_ours(const deployment& on, const kind& k) {
  return std::make_unique<ours>(on, k);
}

std::unique_ptr<contender> contender_of_redisson(const deployment& on, const kind& k) {
  return std::make_unique<theirs>(on, k);
}

}  // namespace holdfast::redisson_test
