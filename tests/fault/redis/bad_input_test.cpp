// Peers that are no Redis server, servers that reject us, and keys of other programs under a lock's
// name.
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::redis_test {
namespace {

class redis_bad_input : public on_redis {};

constexpr const char* secret = "canary-7f3a";

told told_of_opening(const std::string& url, const open_options& o = {}) {
  const auto t = told_by([&] { (void)client::open(url, o).mutex("x").acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << url << ": " << t.text;
  EXPECT_LT(t.took, in_bounds) << url;
  EXPECT_EQ(t.text.find(secret), std::string::npos) << t.text;
  return t;
}

void expect_mentions(const told& t, const std::string& word) {
  EXPECT_NE(t.text.find(word), std::string::npos) << t.text;
}

// Says the same to everybody who comes, whatever they ask.
class talker {
 public:
  explicit talker(std::string text) : text_(std::move(text)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const int guest = ::accept(listener_, nullptr, nullptr);
        if (guest < 0) {
          std::this_thread::sleep_for(1ms);
          continue;
        }
        guests_.push_back(guest);
        // Who hears enough goes before the end.
        [[maybe_unused]] const auto n = ::send(guest, text_.data(), text_.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~talker() {
    thread_.request_stop();
    thread_.join();
    for (const int guest : guests_) ::close(guest);
    ::close(listener_);
  }
  std::string url() const {
    return "redis://127.0.0.1:" + std::to_string(testkit::port_of(listener_)) + "?op-timeout=500ms";
  }

 private:
  const std::string text_;
  const int listener_ = testkit::listen_on(0);
  std::vector<int> guests_;
  std::jthread thread_;
};

TEST_F(redis_bad_input, a_port_where_nobody_listens) {
  const int port = testkit::free_port();
  const auto t = told_of_opening("redis://127.0.0.1:" + std::to_string(port) + patient);
  expect_mentions(t, std::to_string(port));
}

TEST_F(redis_bad_input, a_host_that_does_not_exist_or_does_not_answer) {
  told_of_opening("redis://nowhere.invalid:6379?op-timeout=2s");
}

TEST_F(redis_bad_input, from_a_server_that_answers_and_is_not_Redis) {
  const std::string zeros(5000, '\0'), deep(200'000, '*');
  for (const std::string& text :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string("SSH-2.0-OpenSSH\r\n"),
        std::string("\x15\x03\x01\x00\x02\x02\x16"), zeros, std::string("$99999999999\r\n"),
        std::string("*2147483647\r\n"), deep, std::string(":12345678901234567890123\r\n"),
        std::string("$-5\r\n")}) {
    const talker t(text);
    told_of_opening(t.url());
  }
}

TEST_F(redis_bad_input, nested_lists_without_end) {
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "*1\r\n";
  const talker t(nested);
  told_of_opening(t.url());
}

TEST_F(redis_bad_input, from_a_server_that_never_answers) {
  const talker t("");
  told_of_opening(t.url());
}

TEST_F(redis_bad_input, a_wrong_a_missing_and_a_needless_password) {
  const redis_server server({.password = "right"});
  const auto at = "127.0.0.1:" + std::to_string(server.port()) + patient;
  expect_mentions(told_of_opening("redis://:" + std::string(secret) + '@' + at), "WRONGPASS");
  told_of_opening("redis://" + at, {.password = secret});
  expect_mentions(told_of_opening("redis://" + at), "password");
  told_of_opening("redis://nobody:" + std::string(secret) + '@' + at);
  EXPECT_FALSE(
      told_by([&] { client::open("redis://:right@" + at).mutex("x").acquire().release(); }).code);
  const redis_server open;
  told_of_opening("redis://:" + std::string(secret) + "@127.0.0.1:" + std::to_string(open.port()));
}

TEST_F(redis_bad_input, a_password_that_is_changed_while_a_lock_is_held) {
  redis_server server({.password = "first"});
  const auto c = client::open("redis://:first@127.0.0.1:" + std::to_string(server.port()) +
                              quick_with("ttl=700ms"));
  auto held = c.mutex("x").acquire();
  server.command({"CONFIG", "SET", "requirepass", "second"});
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  const auto t = told_by([&] { (void)c.mutex("y").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
}

TEST_F(redis_bad_input, a_database_out_of_range) {
  redis_server server;
  expect_mentions(told_of_opening(server.url() + "/99" + patient), "DB index");
  EXPECT_EQ(told_by([&] { (void)client::open(server.url() + "/first"); }).code, errc::bad_url);
  const auto c = client::open(server.url() + "/3");
  const auto held = c.mutex("x").acquire();
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 0);
  server.command({"SELECT", "3"});
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 1);
}

TEST_F(redis_bad_input, a_key_of_another_type_is_reported_and_left_alone) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  const std::vector<std::vector<std::string>> others = {{"LPUSH", "list", "v"},
                                                        {"HSET", "hash", "f", "v"},
                                                        {"SADD", "set", "v"},
                                                        {"ZADD", "zset", "1", "v"},
                                                        {"XADD", "stream", "*", "f", "v"}};
  for (const auto& made : others) {
    const auto& name = made[1];
    server.command(made);
    const auto t = told_by([&] { (void)c.mutex(name).acquire(); });
    EXPECT_TRUE(t.code == errc::mismatch || t.code == errc::refused) << name << ": " << t.text;
    EXPECT_LT(t.took, in_bounds);
    told_by([&] { EXPECT_FALSE(c.mutex(name).try_acquire()) << name; });
    EXPECT_EQ(server.command({"TYPE", name}).text, name);
  }
  EXPECT_EQ(server.command({"KEYS", "holdfast:{*"}).items.size(), 0u);
}

TEST_F(redis_bad_input, a_value_of_somebody_else_is_waited_for_and_never_touched) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  const std::string garbage("\0\r\n\xff hf1:not:ours |", 20);
  for (const std::string& value : {std::string("theirs"), garbage, std::string(),
                                   std::string("hf1:"), std::string("hf1:0123456789abcdef:")}) {
    server.command({"SET", "x", value});
    EXPECT_FALSE(c.mutex("x").try_acquire());
    EXPECT_FALSE(c.mutex("x").try_acquire_for(60ms));
    EXPECT_EQ(server.command({"GET", "x"}).text, value);
    EXPECT_EQ(server.command({"PTTL", "x"}).number, -1);
    std::jthread waiter([&] { c.mutex("x").acquire().release(); });
    EXPECT_TRUE(eventually_queued(server, 1));
    server.command({"DEL", "x"});
    waiter.join();
    EXPECT_EQ(server.command({"EXISTS", "x"}).number, 0);
  }
}

TEST_F(redis_bad_input, side_keys_of_another_type) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  server.command({"SET", "holdfast:{x}:x:q", "not a line"});
  server.command({"SET", "holdfast:{y}:y:m", "not a hash"});
  for (const char* name : {"x", "y"}) {
    const auto t = told_by([&] {
      const auto held = c.mutex(name).acquire();
      EXPECT_FALSE(client::open(server.url() + quick).mutex(name).try_acquire_for(50ms));
    });
    EXPECT_LT(t.took, in_bounds) << t.text;
  }
  server.command({"SET", "holdfast:n", "not a number"});
  const auto t = told_by([&] { (void)c.mutex("z").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "z"}).number == 0; }));
}

TEST_F(redis_bad_input, replies_that_are_spoilt_on_the_way_hang_nobody_and_grant_nothing) {
  redis_server server;
  tcp_proxy proxy(server.port());
  const auto c = open_eventually(proxy.url() + "?op-timeout=300ms&retry-base=2ms&ttl=1s");
  std::mt19937_64 numbers(11);
  for (int i = 0; i < 150; ++i) {
    std::error_code warm;
    c.mutex("x").acquire().release(warm);
    // One bit of what comes next, once.
    proxy.set(direction::to_client, {.mutate = [&, done = false](std::string& bytes) mutable {
                if (done) return;
                done = true;
                bytes[numbers() % bytes.size()] ^= static_cast<char>(1 << numbers() % 8);
              }});
    std::error_code ec;
    const auto t = told_by([&] {
      auto held = c.mutex("x").acquire({}, {}, ec);
      if (held) held.release(ec);
    });
    EXPECT_LT(t.took, in_bounds);
    proxy.set(direction::to_client, {});
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  }
}

TEST_F(redis_bad_input, names_are_data) {
  redis_server server;
  const auto c = client::open(server.url());
  const auto other = client::open(server.url());
  server.command({"SET", "keep", "me"});
  for (const std::string& name :
       {std::string("')..redis.call('flushall')..('"), std::string("a b"), std::string("*"),
        std::string("x|y|z"), std::string("{a}b"), std::string("a{b}c"), std::string("{}"),
        std::string("../../etc/passwd"), std::string(512, 'n'),
        std::string("\xc3\xa4\xe6\xbc\xa2")}) {
    auto held = c.mutex(name).acquire();
    EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
    lease next;
    std::jthread waiter([&] { next = other.mutex(name).acquire(); });
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", name}).number == 1; }));
    held.release();
    waiter.join();
    EXPECT_TRUE(next.held()) << name;
  }
  EXPECT_EQ(server.command({"GET", "keep"}).text, "me");
}

}  // namespace
}  // namespace holdfast::redis_test
