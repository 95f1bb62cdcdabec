#include "fixture.hpp"

namespace holdfast::redis_test {

std::string quick_with(const std::string& more) { return std::string(quick) + '&' + more; }

client open_eventually(const std::string& url) {
  client c;
  std::error_code ec;
  EXPECT_TRUE(eventually([&] {
    c = client::open(url, ec);
    return !ec;
  })) << ec.message();
  return c;
}

told told_by(const std::function<void()>& what) {
  told t;
  const auto begun = std::chrono::steady_clock::now();
  try {
    what();
  } catch (const lock_error& e) {
    t.code = e.code();
    t.text = e.what();
  }
  t.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begun);
  return t;
}

bool eventually_queued(redis_server& server, std::size_t n, const std::string& name) {
  const auto line = "holdfast:{" + name + "}:" + name + ":q";
  return eventually([&] {
    return server.command({"ZCARD", line}).number == static_cast<long long>(n);
  });
}

waiting_thread::waiting_thread(const client& c, const std::string& name)
    : thread_([this, m = c.mutex(name)](const std::stop_token& stop) {
        held_ = m.acquire({}, stop, reported_);
        served_ = static_cast<bool>(held_);
      }) {}

lease& waiting_thread::served() {
  if (thread_.joinable()) thread_.join();
  EXPECT_FALSE(reported_) << reported_.message();
  EXPECT_TRUE(held_.held());
  return held_;
}

void expect_safe(const lease& held, redis_server& server, const std::string& name) {
  const auto deadline = held.expires();
  const auto left = server.command({"PTTL", name});
  const auto now = lease_clock::now();
  ASSERT_GE(left.number, 0) << name << " has no time to live: " << to_text(left);
  EXPECT_LE(deadline, now + std::chrono::milliseconds(left.number + 1));
}

void expect_no_key_left(redis_server& server) {
  const auto left = [&] {
    auto keys = server.command({"KEYS", "*"}).items;
    std::erase_if(keys, [](const auto& key) { return key.text == "holdfast:n"; });
    return keys;
  };
  EXPECT_TRUE(eventually([&] { return left().empty(); }));
  for (const auto& key : left()) ADD_FAILURE() << "left behind: " << key.text;
}

void expect_nothing_left(redis_server& server) {
  expect_no_key_left(server);
  EXPECT_TRUE(eventually([&] {
    return server.command({"PUBSUB", "CHANNELS"}).items.empty();
  })) << "somebody still listens";
}

void expect_counters_alone_left(redis_server& server) {
  EXPECT_TRUE(eventually([&] {
    for (const auto& key : server.command({"KEYS", "*"}).items)
      if (!key.text.starts_with("redisson_lock_token:")) return false;
    return true;
  })) << to_text(server.command({"KEYS", "*"}));
}

}  // namespace holdfast::redis_test
