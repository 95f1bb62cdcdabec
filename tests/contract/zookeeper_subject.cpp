#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <array>

#include "fixture.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "testkit/servers/zookeeper_link.hpp"

namespace contract {
namespace {

using holdfast::testkit::applies_to;
using holdfast::testkit::direction;
using holdfast::testkit::tcp_proxy;
using holdfast::testkit::zookeeper_link;

// Starting a server takes a second of a processor: the cases of one program share them. A session
// lives for as long as a lease at other stores. A server of an ensemble that a loaded machine does
// not run for a second is not taken for dead: an election costs the sessions of the cases.
const holdfast::testkit::zookeeper_options shared_by_cases{
    .config = {"minSessionTimeout=" + std::to_string(short_ttl.count()), "maxSessionTimeout=30000",
               "maxClientCnxns=0", "syncLimit=50"}};

std::vector<int> port_of_one() {
  static const holdfast::testkit::zookeeper_server server(shared_by_cases);
  return {server.port()};
}

std::vector<int> ports_of_three() {
  static holdfast::testkit::zookeeper_ensemble servers(shared_by_cases);
  return {servers.at(1).port(), servers.at(2).port(), servers.at(3).port()};
}

// Each case has its locks below a node of its own, and its own network.
class zookeeper_subject final : public subject {
 public:
  zookeeper_subject(std::vector<int> ports, std::string_view options)
      : ports_(std::move(ports)), options_(options) {
    static int cases = 0;
    chroot_ = "/case" + std::to_string(++cases);
    for (const int port : ports_) proxies_.push_back(std::make_unique<tcp_proxy>(port));
    zookeeper_link(ports_.front()).create(chroot_);
  }

  std::string url() const override {
    std::string out = "zookeeper://";
    for (const auto& proxy : proxies_)
      out.append(out.ends_with('/') ? "" : ",")
          .append("127.0.0.1:" + std::to_string(proxy->port()));
    return with_options(out + chroot_, options_);
  }
  std::string short_lived_url() const override {
    return with_options(url(), "session-timeout=" + std::to_string(short_ttl.count()) +
                                   "ms&op-timeout=3s");
  }
  // Those who hold a lock lose their sessions, whoever they are; the client has a new one then. A
  // server whose client attaches a session while it is being closed leaves that connection silent:
  // new ones have to wait for that long.
  void lose_leases_of(const holdfast::client& client) override {
    zookeeper_link operators(ports_.front());
    const auto holders = holdfast::client::open(url()).list();
    hold_new_connections(true);
    for (const holdfast::holder& h : holders) {
      const auto session = [&] {  // of the holder's node; in layout node that is the lock's
        const std::int64_t id = operators.owner_below(chroot_, h.owner);
        return id != 0 ? id : operators.owner_of(chroot_ + '/' + h.name);
      };
      while (const std::int64_t id = session()) zookeeper_link::end(ports_.front(), id);
    }
    hold_new_connections(false);
    std::error_code ec;
    EXPECT_TRUE(becomes([&] { return (void)client.list({}, ec), !ec; }));
  }
  void begin_outage() override {
    for (const auto& proxy : proxies_) proxy->set_both({.hold = true});
  }
  void end_outage() override {
    for (const auto& proxy : proxies_) proxy->set_both({});
  }
  void lose_next_reply() override {
    for (const auto& proxy : proxies_) proxy->cut_after(direction::to_client, 0);
  }

 private:
  void hold_new_connections(bool yes) {
    for (const auto& proxy : proxies_)
      proxy->set(direction::to_server, {.hold = yes},
                 yes ? applies_to::new_connections : applies_to::all);
  }

  const std::vector<int> ports_;
  const std::string options_;
  std::string chroot_;
  std::vector<std::unique_ptr<tcp_proxy>> proxies_;  // one for each server
};

}  // namespace

std::unique_ptr<subject> make_zookeeper_subject(std::string_view options) {
  return std::make_unique<zookeeper_subject>(port_of_one(), options);
}

std::unique_ptr<subject> make_zookeeper_ensemble_subject(std::string_view options) {
  return std::make_unique<zookeeper_subject>(ports_of_three(), options);
}

std::string_view zookeeper_is_missing() {
  using holdfast::testkit::zookeeper_server;
  return zookeeper_server::installed() ? "" : zookeeper_server::not_installed;
}

}  // namespace contract
#endif
