// Two or three sentinels and the servers that they watch, all of them played by the test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/topologies/sentinel/sentinel.hpp"
#include "tests/unit/backend/redis/transport/scripted_network.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;

class some_sentinels : public testing::Test {
 protected:
  some_sentinels() : some_sentinels(at({"s1", "s2", "s3"})) {}
  explicit some_sentinels(settings s) : where(std::move(s)) {
    const std::lock_guard guard(reactor.mutex());
    over.open(net.now());
  }
  ~some_sentinels() override { reactor.stop(); }

  static settings at(const std::vector<std::string>& sentinels) {
    settings s;
    s.retry_base = 50ms;
    s.connect_timeout = 1s;
    s.op_timeout = 4s;
    s.probe = 1s;
    s.text = "redis+sentinel://s1,s2,s3/m";
    s.master = "m";
    for (const std::string& host : sentinels) {
      endpoint e = s;
      e.where = {host, 26379, {}};
      s.sentinels.push_back(e);
    }
    return s;
  }
  std::vector<std::size_t> lines_to(const std::string& host) const { return net.lines_to(host); }
  void pass(base::duration d = 0ms) { net.time.advance(d); }

  // Answers what a sentinel is asked.
  void greet_sentinel(const std::string& host) {
    pass();
    for (const std::size_t n : lines_to(host)) {
      if (std::exchange(is_greeted_[n], true)) continue;
      net.open(n);
      net.received(n);
      net.reply(n, "+OK\r\n:1\r\n" + bulk("laddr=127.0.0.1:26379") + bulk("run_id:" + host) +
                       bulk(""));
    }
  }
  // It says that this is the master, in answer to all that it has been asked.
  void answer(const std::string& host, const std::string& master, int epoch = 0,
              const std::vector<std::string>& replicas = {}) {
    answer_as(host, host, master, epoch, replicas);
  }
  // The same, under the id of another one.
  void answer_as(const std::string& id, const std::string& host, const std::string& master,
                 int epoch = 0, const std::vector<std::string>& replicas = {}) {
    greet_sentinel(host);
    for (const std::size_t n : lines_to(host)) {
      const std::string asked = net.received(n);
      for (std::size_t i = asked.find("MYID"); i != asked.npos; i = asked.find("MYID", i + 1))
        net.reply(n, bulk(id) + "*2\r\n" + bulk("sentinel") + "*1\r\n" + bulk("m") + others(id) +
                         list_of(replicas) + "*4\r\n" + bulk("ip") + bulk(master) +
                         bulk("config-epoch") + bulk(std::to_string(epoch)) + "*2\r\n" +
                         bulk(master) + bulk("6379"));
    }
    pass();
  }
  // Each new connection to a server is opened, and that says who it is; its run_id is its history.
  void greet(const std::string& host, const std::string& role, const std::string& history,
             const std::string& before = "0") {
    for (const std::size_t n : lines_to(host)) {
      if (std::exchange(is_greeted_[n], true)) continue;
      net.open(n);
      net.received(n);
      net.reply(n, "+OK\r\n:7\r\n" + bulk("laddr=127.0.0.1:6379") + bulk("run_id:" + history) +
                       bulk("role:" + role + "\r\nmaster_replid:" + history +
                            "\r\nmaster_replid2:" + before));
    }
    pass();
  }
  // A sentinel announces another master, on its first connection, which listens.
  void announce(const std::string& host) {
    net.reply(lines_to(host).front(),
              "*3\r\n" + bulk("message") + bulk("+switch-master") + bulk("m a 1 b 1"));
  }
  bool is_open() {
    const std::lock_guard guard(reactor.mutex());
    return over.is_open();
  }
  std::string server() {  // the history of the one that commands go to
    const std::lock_guard guard(reactor.mutex());
    return std::string(over.node_of("").server_stamp());
  }

  static const char* port_of(const std::string& host) {
    return host == "?" ? "0" : host[0] == 's' ? "26379" : "6379";
  }
  // "?": an address that the sentinels do not know.
  static std::string list_of(const std::vector<std::string>& hosts) {
    std::string out = '*' + std::to_string(hosts.size()) + "\r\n";
    for (const std::string& h : hosts)
      out += "*6\r\n" + bulk("ip") + bulk(h) + bulk("port") + bulk(port_of(h)) + bulk("runid") +
             bulk(h);
    return out;
  }
  std::string others(const std::string& host) const {
    std::vector<std::string> out = all;
    std::erase(out, host);
    return list_of(out);
  }

  std::vector<std::string> all{"s1", "s2", "s3"};
  scripted_network net;
  io::client_reactor reactor{net, {"alarm", "loop", "own"}, "redis+sentinel://s1,s2,s3/m"};
  settings where;
  sentinel over{reactor, where, {}};

 private:
  std::map<std::size_t, bool> is_greeted_;
};

}  // namespace holdfast::redis
