// Shared by the tests of a session at a real ZooKeeper.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "backend/zookeeper/settings.hpp"
#include "testkit/eventually.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "testkit/servers/zookeeper_server.hpp"

namespace holdfast::zookeeper_test {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::eventually;
using testkit::tcp_proxy;
using testkit::zookeeper_options;
using testkit::zookeeper_server;
using zookeeper::acl_of;
using zookeeper::error;
using zookeeper::node_kind;
using zookeeper::opcode;

// One server for the tests of a process that break nothing of it; each has a chroot of its own.
zookeeper_server& shared_server();

class on_zookeeper : public testing::Test {
 protected:
  void SetUp() override {
    if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  }
};

struct answer {
  bool was_cut = false;
  error code{1};  // none: it was cut
  std::int64_t zxid = 0;
  std::string body;
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(body)); }
};

// One session, and all that its transport reports.
class session_client final : private zookeeper::session_listener {
 public:
  explicit session_client(const std::string& url);
  ~session_client();

  void open() { transport_.open(); }
  bool close() { return transport_.close(base::system_environment().now() + 10s); }
  // Sends the request and waits for what becomes of it.
  answer call(opcode, std::string body, std::string watched = {});
  answer create(const std::string& path, node_kind = node_kind::persistent,
                acl_of = acl_of::anyone);
  answer remove(const std::string& path);
  answer exists(const std::string& path, bool watches = false);
  std::int64_t id();  // of the session; 0: none
  base::time_point deadline();
  base::time_point deadline_of(std::int64_t id);  // the last one of that session
  zookeeper::server_mode mode();
  answer set_data(const std::string& path, const std::string& data);
  std::string data_of(const std::string& path);  // "": there is no such node
  std::vector<std::string> children_of(const std::string& path);
  int count(const std::string& word);  // how often that was reported: "new", "again", "lost" ...
  zookeeper::transport& over() { return transport_; }

 private:
  void on_attached(bool is_new, base::time_point, base::event_queue&) override {
    log_.push_back(is_new ? "new" : "again");
  }
  void on_deadline(base::time_point t, base::event_queue&) override {
    deadlines_[transport_.of_session().id()] = t;
  }
  void on_doubtful(base::event_queue&) override { log_.push_back("doubtful"); }
  void on_session_lost(const base::failure&, base::event_queue&) override {
    log_.push_back("lost");
  }
  void on_watch(const zookeeper::watch_event& e, base::time_point, base::event_queue&) override {
    log_.push_back(std::to_string(static_cast<int>(e.kind)) + ' ' + std::string(e.path));
  }

  zookeeper::settings settings_;
  std::vector<std::string> log_;
  std::map<std::int64_t, base::time_point> deadlines_;  // by session
  zookeeper::transport transport_;
};

// Has `c` make the node, over connections that may be cut: an attempt without an answer may have
// made it, and the next one finds it there.
bool eventually_creates(session_client& c, const std::string& path);

// Has `c` make the ephemeral node "/own", which `other` watches from then on. Returns the session
// that owns it.
std::int64_t eventual_owner_of_own(session_client& c, session_client& other);

// Why that URL cannot be opened; code {} when it can.
base::failure failure_to_open(const std::string& url);

inline std::string at_port(int port, const std::string& options) {
  return "zookeeper://127.0.0.1:" + std::to_string(port) + options;
}

}  // namespace holdfast::zookeeper_test
