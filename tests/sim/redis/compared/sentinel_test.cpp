// Real sentinels answer as the models do, before and after a failover.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/servers/sentinel_servers.hpp"
#include "tests/sim/redis/compared/answers_of_model.hpp"
#include "tests/sim/redis/compared/raw_socket.hpp"
#include "tests/sim/redis/compared/two_servers.hpp"
#include "tests/sim/redis/model/sentinel_group.hpp"

namespace holdfast::sim {
namespace {

using testkit::redis_server;
using testkit::sentinel_servers;
using words = std::vector<std::string>;

constexpr std::string_view end_of_answers = "$3\r\nend\r\n";

// The lines of an answer and the words of its texts, without the lengths of the texts.
words parts_of(std::string_view bytes) {
  words out;
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find("\r\n"), bytes.size());
    std::string_view text = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 2, bytes.size()));
    if (text.starts_with('$') && text != "$-1") {
      const auto length = std::strtoul(text.data() + 1, nullptr, 10);
      text = bytes.substr(0, length);
      bytes.remove_prefix(std::min<std::size_t>(length + 2, bytes.size()));
    }
    while (!text.empty()) {
      const auto space = std::min(text.find(' '), text.size());
      out.emplace_back(text.substr(0, space));
      text.remove_prefix(std::min(space + 1, text.size()));
    }
    if (out.empty()) out.emplace_back();
  }
  return out;
}

std::string joined(const words& all) {
  std::string out;
  for (const std::string& one : all) out += one + ' ';
  return out;
}

// Keeps these fields of each list of fields and values, and sorts the lists by the first of them.
// Sentinels return the lists in no order, with more fields.
std::string fields_of(const words& all, const words& fields) {
  words lists;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (std::ranges::find(fields, all[i]) == fields.end()) continue;
    if (all[i] == fields.front()) lists.emplace_back();
    if (!lists.empty()) lists.back() += all[i] + '=' + all[i + 1] + ' ';
    ++i;
  }
  std::ranges::sort(lists);
  return joined(lists);
}

struct sim_sentinel_model : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    if (!testkit::tested_redis().is_at_least(7, 0)) GTEST_SKIP() << "other texts before Redis 7.0";
    real = std::make_unique<sentinel_servers>();
    for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
      names[':' + std::to_string(real->server(i).port())] = "server" + std::to_string(i);
    for (std::size_t i = 0; i < real->sentinel_count(); ++i) {
      const std::string name = "sentinel" + std::to_string(i);
      names[':' + std::to_string(real->sentinel(i).port())] = name;
      names[real->sentinel(i).id()] = name;
      names[model.at(static_cast<int>(i)).address().ip + ":26379"] = name;
      const words id = parts_of(bytes_of_model(static_cast<int>(i), {"SENTINEL", "MYID"}));
      names[id.front()] = name;
    }
    for (int i = 0; i < 3; ++i)
      names[server_of_model(i).ip + ":6379"] = "server" + std::to_string(i);
  }

  static server_address server_of_model(int i) { return {"10.0.0." + std::to_string(i + 1)}; }

  static std::string request(const command_words& one) {
    return encoded(one) + encoded({"PING", "end"});
  }
  std::string bytes_of_model(int sentinel, const command_words& one) {
    return answers_of_model(model.at(sentinel), request(one));
  }
  std::string bytes_of_real(int sentinel, const command_words& one) {
    raw_socket socket(real->sentinel(static_cast<std::size_t>(sentinel)).socket_path());
    socket.write(request(one));
    return socket.read_until(end_of_answers);
  }

  // With the names of servers and sentinels in the place of ids and addresses. Real servers are
  // told apart by their ports, those of the model by their hosts.
  words named(words all) const {
    std::string host;
    for (std::string& one : all) {
      const auto colon = one.find(':');
      const bool is_local = one.starts_with("127.0.0.1");
      if (is_local || one.starts_with("10.0.0.")) {
        host = is_local ? "" : one.substr(0, colon);
        const std::string port = colon == one.npos ? "" : one.substr(colon);
        one = port.empty() ? "host" : name_of(host + port);
      } else {
        const auto found = names.find(one);
        one = found != names.end() ? found->second : name_of_port(host, one);
      }
    }
    return all;
  }
  std::string name_of(const std::string& address) const {
    const auto found = names.find(address);
    return found == names.end() ? address : found->second;
  }
  std::string name_of_port(const std::string& host, const std::string& port) const {
    const auto found = names.find(host + ':' + port);
    return found == names.end() ? port : found->second;
  }

  void expect_same_answer(const command_words& one, const words& fields = {}) {
    for (int i = 0; i < model.count(); ++i) {
      const words of_real = named(parts_of(bytes_of_real(i, one)));
      const words of_model = named(parts_of(bytes_of_model(i, one)));
      const auto shown = [&](const words& all) {
        return fields.empty() ? joined(all) : fields_of(all, fields);
      };
      EXPECT_EQ(shown(of_real), shown(of_model)) << "sentinel " << i << ": " << joined(one);
      EXPECT_FALSE(shown(of_model).empty());
    }
  }
  // All that a client requests, and what it might send by mistake.
  void expect_same_answers() {
    expect_same_answer({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"});
    expect_same_answer({"SENTINEL", "MYID"});
    expect_same_answer({"ROLE"});
    expect_same_answer({"SENTINEL", "MASTER", "main"},
                       {"name", "ip", "port", "flags", "config-epoch", "num-slaves",
                        "num-other-sentinels", "quorum"});
    expect_same_answer({"SENTINEL", "SENTINELS", "main"}, {"name", "ip", "port", "runid", "flags"});
    // A sentinel learns of the links between servers only after the announcement.
    for (const char* word : {"REPLICAS", "SLAVES"})
      expect_same_answer({"SENTINEL", word, "main"}, {"name", "ip", "port", "slave-priority"});
    for (const char* word : {"GET-MASTER-ADDR-BY-NAME", "MASTER", "SENTINELS", "REPLICAS"})
      expect_same_answer({"SENTINEL", word, "other"});
  }

  std::unique_ptr<sentinel_servers> real;
  sentinel_group model{[] { return std::chrono::microseconds(1'700'000'000'000'000); },
                       3,
                       server_of_model(0),
                       {server_of_model(1), server_of_model(2)}};
  std::map<std::string, std::string> names;
};

TEST_F(sim_sentinel_model, describes_the_master_and_a_failover_as_real_sentinels_do) {
  expect_same_answers();

  const command_words subscribe{"SUBSCRIBE", "+switch-master"};
  expect_same_answer(subscribe);
  raw_socket hears(real->sentinel(1).socket_path());
  hears.write(request(subscribe));
  hears.read_until(end_of_answers);
  collected_answers end;
  const int c = model.at(1).connect(end);
  model.at(1).receive(c, request(subscribe));
  end.got.clear();

  real->fail_over();
  const redis_server& promoted = real->wait_until_promoted();
  real->wait_until_settled();
  const int to = &promoted == &real->server(1) ? 1 : 2;
  for (int i = 0; i < model.count(); ++i) model.hear(i, server_of_model(to), 1);
  expect_same_answers();
  hears.write(encoded({"PING", "end"}));
  EXPECT_EQ(joined(named(parts_of(hears.read_until(end_of_answers)))),
            joined(named(parts_of(end.got))) + "*2 pong end ");
  model.at(1).disconnect(c);
}

TEST_F(sim_sentinel_model, greets_and_refuses_as_real_sentinels_do) {
  expect_same_answer({"PING"});
  expect_same_answer({"CLIENT", "SETNAME", "name"});
  expect_same_answer({"HELLO", "2"}, {"server", "proto", "mode", "modules"});
  expect_same_answer({"INFO", "replication"});
  expect_same_answer({"SELECT", "1"});
  expect_same_answer({"GET", "x"});
  expect_same_answer({"MULTI"});
  expect_same_answer({"EVAL", "return 1", "0"});
  expect_same_answer({"WAIT", "0", "0"});
  expect_same_answer({"SENTINEL"});
  expect_same_answer({"SENTINEL", "NOTHING"});
  expect_same_answer({"SENTINEL", "MASTER"});
  expect_same_answer({"SENTINEL", "MYID", "x"});
  expect_same_answer({"AUTH", "password"});
  EXPECT_NE(bytes_of_real(0, {"INFO", "server"}).find("redis_mode:sentinel"), std::string::npos);
  EXPECT_NE(bytes_of_model(0, {"INFO", "server"}).find("redis_mode:sentinel"), std::string::npos);
}

TEST(sim_sentinel_group, keeps_the_latest_configuration_and_announces_it_once) {
  const server_address a{"10.0.0.1"}, b{"10.0.0.2"};
  sentinel_group group([] { return std::chrono::microseconds(0); }, 3, a, {b});
  collected_answers end;
  const int c = group.at(0).connect(end);
  group.at(0).receive(c, encoded({"SUBSCRIBE", "+switch-master"}));
  end.got.clear();
  group.hear(0, b, 2);
  group.hear(0, a, 1);
  group.hear(0, b, 2);
  EXPECT_EQ(group.master_of(0).ip, b.ip);
  EXPECT_EQ(group.epoch_of(0), 2u);
  EXPECT_EQ(joined(parts_of(end.got)),
            "*3 message +switch-master main 10.0.0.1 6379 10.0.0.2 6379 ");
  EXPECT_EQ(group.master_of(1).ip, a.ip);
  group.at(0).disconnect(c);
}

}  // namespace
}  // namespace holdfast::sim
