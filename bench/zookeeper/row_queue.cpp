// zookeeper/bytes: what a client receives for a grant while thousands of others are queued.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <thread>

#include "row.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "zookeeper/bare_zookeeper.hpp"
#include "zookeeper/fixture.hpp"

namespace bench {

namespace zk = holdfast::zookeeper;

namespace {

// A holder, our waiter behind it, and the nodes of others behind our waiter.
class long_queue {
 public:
  long_queue() : client_(holdfast::client::open(proxied())) {}

  // From the release of the holder to our grant.
  double bytes_of_grant(unsigned queued) {
    const std::string name = "queue-" + std::to_string(++runs_);
    const std::string path = '/' + name;
    client_.mutex(name).acquire().release();  // the parent is there
    bare_zookeeper others(fixture_.port());
    const std::string first = create(others, path, 1);
    std::thread waiter(
        [m = client_.mutex(name), &lease = lease_]() mutable { lease = m.acquire(); });
    await_children(others, path, 2);
    (void)create(others, path, queued);
    await_silence();
    const auto before = proxy_.counts().to_client;
    std::string body;
    zk::append_delete(body, first, zk::any_version);
    others.append(zk::opcode::remove, body);
    others.flush();
    others.await(1, [](const zk::reply&) {});
    waiter.join();
    const auto after = proxy_.counts().to_client;
    lease_.release();
    return static_cast<double>(after - before);
  }

 private:
  std::string proxied() const {
    return "zookeeper://127.0.0.1:" + std::to_string(proxy_.port()) + "?session-timeout=40s";
  }
  // Queues `count` nodes, many in one write. Returns the path of the last one.
  static std::string create(bare_zookeeper& by, const std::string& path, unsigned count) {
    constexpr unsigned at_once = 500;
    std::string body, last;
    zk::append_create(body, path + "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-", "",
                      zk::node_kind::ephemeral_sequential, zk::acl_of::anyone);
    for (unsigned done = 0; done < count;) {
      const unsigned some = std::min(at_once, count - done);
      for (unsigned i = 0; i < some; ++i) by.append(zk::opcode::create2, body);
      by.flush();
      by.await(some, [&](const zk::reply& r) { last = zk::read_created(r.body)->path; });
      done += some;
    }
    return last;
  }
  static void await_children(bare_zookeeper& by, const std::string& path, int count) {
    std::string body;
    zk::append_watched_path(body, path, false);
    for (int now = 0; now < count;) {
      by.append(zk::opcode::exists, body);
      by.flush();
      by.await(1, [&](const zk::reply& r) { now = zk::read_stat(r.body)->children; });
    }
  }
  // Our waiter has been answered what it asked when it queued.
  void await_silence() const {
    for (auto last = proxy_.counts().to_client;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
      const auto now = proxy_.counts().to_client;
      if (now == last) return;
      last = now;
    }
  }

  zookeeper_fixture fixture_;
  holdfast::testkit::tcp_proxy proxy_{fixture_.port()};
  holdfast::client client_;
  holdfast::lease lease_;
  unsigned runs_ = 0;
};

}  // namespace

std::vector<contest> zookeeper_bytes() {
  const auto queue = std::make_shared<long_queue>();
  return {{"",
           [queue](seconds) {
             return outcome{queue->bytes_of_grant(10), {}};
           },
           [queue](seconds) {
             return outcome{queue->bytes_of_grant(10'000), {}};
           }}};
}

}  // namespace bench
