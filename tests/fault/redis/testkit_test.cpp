// The servers, the network and the clock that the fault tests use do what they say.
#include <gtest/gtest.h>

#include <thread>

#include "testkit/servers/port.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::testkit {
namespace {

using namespace std::chrono_literals;

class redis_fixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  }
};

TEST_F(redis_fixture, a_server_answers_and_keeps_its_data_over_a_restart_or_not) {
  redis_server server;
  const int port = server.port();
  EXPECT_EQ(server.command({"SET", "k", "v"}).text, "OK");
  server.restart(true);
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(server.command({"GET", "k"}).text, "v");
  server.restart(false);
  EXPECT_TRUE(server.command({"GET", "k"}).is_nil());
}

TEST_F(redis_fixture, a_durable_server_keeps_what_it_answered_to_though_killed) {
  redis_server server({.durable = true});
  server.command({"SET", "k", "v"});
  server.kill_hard();
  server.start();
  EXPECT_EQ(server.command({"GET", "k"}).text, "v");
}

TEST_F(redis_fixture, a_stopped_server_is_silent_until_it_continues) {
  redis_server server;
  redis_link link = server.link();
  server.stop();
  link.send({"PING"});
  server.go_on();
  EXPECT_EQ(link.receive().text, "PONG");
}

TEST_F(redis_fixture, the_server_dies_with_its_object) {
  pid_t pid = 0;
  {
    const redis_server server;
    pid = server.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(redis_fixture, users_and_passwords_are_as_configured) {
  redis_server server({.password = "grown-up", .acl = "lock on >secret resetkeys ~lock:* +get"});
  redis_link stranger("127.0.0.1", server.port());
  EXPECT_TRUE(stranger.command({"GET", "lock:a"}).is_error());
  EXPECT_EQ(stranger.command({"AUTH", "grown-up"}).text, "OK");
  EXPECT_EQ(stranger.command({"AUTH", "lock", "secret"}).text, "OK");
  EXPECT_TRUE(stranger.command({"GET", "lock:a"}).is_nil());
  EXPECT_TRUE(stranger.command({"GET", "other"}).is_error());
}

TEST_F(redis_fixture, a_tls_server_shows_its_certificate_and_no_plain_text) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  for (const char* name : {"server", "expired", "stranger"}) {
    const redis_server server({.tls = name});
    const scratch_folder folder;
    const auto at = "127.0.0.1:" + std::to_string(server.port());
    const auto ca = server.tls_files().certificate("ca");
    const int verdict =
        run_program({{"sh", "-c",
                      "openssl s_client -connect \"$1\" -CAfile \"$2\" -verify_return_error "
                      "-verify_ip 127.0.0.1 </dev/null",
                      "sh", at, ca},
                     {},
                     folder.file("out")});
    EXPECT_EQ(verdict == 0, name == std::string("server")) << folder.read("out");
    EXPECT_THROW(redis_link("127.0.0.1", server.port()).command({"PING"}), redis_silent);
  }
}

TEST_F(redis_fixture, the_clock_of_a_running_server_moves) {
  redis_server server({.clock_shim = true});
  const auto seconds = [&] { return std::stoll(server.command({"TIME"}).items.at(0).text); };
  const auto before = seconds();
  server.set_clock(1h);
  EXPECT_GE(seconds(), before + 3600);
  server.set_clock(-1h);
  EXPECT_LE(seconds(), before - 3500);
  server.set_clock(0ms);
  server.command({"SET", "k", "v", "PX", "10000"});
  server.set_clock(1h);
  EXPECT_TRUE(server.command({"GET", "k"}).is_nil());
}

TEST_F(redis_fixture, a_server_becomes_a_replica_and_a_master_again) {
  redis_server a, b;
  a.command({"SET", "k", "v"});
  b.replicate(a);
  EXPECT_EQ(b.info("role"), "slave");
  EXPECT_EQ(b.command({"GET", "k"}).text, "v");
  const std::string id = a.info("master_replid");
  b.promote();
  EXPECT_EQ(b.info("role"), "master");
  EXPECT_EQ(b.info("master_replid2"), id);
  EXPECT_EQ(a.info("role"), "master");
  EXPECT_EQ(a.command({"SET", "k", "w"}).text, "OK");
  a.replicate(b);
  EXPECT_EQ(a.command({"GET", "k"}).text, "v");
}

TEST_F(redis_fixture, a_failover_loses_nothing_and_closes_no_connection) {
  redis_server a, b;
  b.replicate(a);
  redis_link link = a.link();
  a.command({"SET", "k", "v"});
  a.fail_over_to(b);
  EXPECT_EQ(a.info("role"), "slave");
  EXPECT_EQ(b.info("role"), "master");
  EXPECT_EQ(b.command({"GET", "k"}).text, "v");
  EXPECT_EQ(link.command({"SET", "k", "w"}).text.substr(0, 8), "READONLY");
}

class redis_proxy : public redis_fixture {};

struct through_a_proxy {
  redis_server server;
  tcp_proxy proxy{server.port()};
  redis_link link{"127.0.0.1", proxy.port()};
};

TEST_F(redis_proxy, passes_what_it_is_given_and_counts_it) {
  through_a_proxy net;
  EXPECT_EQ(net.link.command({"PING"}).text, "PONG");
  const std::string big(1'000'000, 'x');
  net.link.command({"SET", "k", big});
  EXPECT_EQ(net.link.command({"GET", "k"}).text, big);
  const auto counts = net.proxy.counts();
  EXPECT_EQ(counts.accepted, 1u);
  EXPECT_EQ(counts.open, 1u);
  EXPECT_GT(counts.to_client, big.size());
  EXPECT_GT(counts.to_server, big.size());
}

TEST_F(redis_proxy, a_reply_is_cut_after_the_given_number_of_bytes) {
  through_a_proxy net;
  for (std::uint64_t n = 0; n < 7; ++n) {  // "+PONG\r\n"
    redis_link fresh("127.0.0.1", net.proxy.port());
    const auto before = net.proxy.counts().to_client;
    net.proxy.cut_after(direction::to_client, n);
    EXPECT_THROW(fresh.command({"PING"}), redis_silent);
    EXPECT_TRUE(net.proxy.was_cut());
    EXPECT_EQ(net.proxy.counts().to_client, before + n);
  }
  EXPECT_EQ(net.link.command({"PING"}).text, "PONG");
}

TEST_F(redis_proxy, the_server_has_done_what_a_lost_reply_was_about) {
  through_a_proxy net;
  net.proxy.cut_after(direction::to_client, 0);
  EXPECT_THROW(net.link.command({"SET", "k", "v"}), redis_silent);
  EXPECT_EQ(net.server.command({"GET", "k"}).text, "v");
}

TEST_F(redis_proxy, a_held_request_arrives_after_its_sender_has_gone) {
  through_a_proxy net;
  net.proxy.set(direction::to_server, {.hold = true});
  net.link.send({"SET", "k", "late"});
  { const redis_link gone = std::move(net.link); }
  EXPECT_TRUE(net.server.command({"GET", "k"}).is_nil());
  net.proxy.set(direction::to_server, {});
  while (net.server.command({"GET", "k"}).is_nil()) std::this_thread::yield();
}

// The port of the server that answers.
std::string port_behind(redis_link& link) {
  return link.command({"CONFIG", "GET", "port"}).items.at(1).text;
}

TEST_F(redis_proxy, leads_new_connections_to_another_server_and_leaves_the_old_ones) {
  through_a_proxy net;
  const redis_server other;
  const std::string first = port_behind(net.link);
  net.proxy.route_to(other.port());
  redis_link moved("127.0.0.1", net.proxy.port());
  EXPECT_EQ(port_behind(moved), std::to_string(other.port()));
  EXPECT_EQ(port_behind(net.link), first);

  const auto open = net.proxy.connections();
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].target_port, net.server.port());
  EXPECT_EQ(open[1].target_port, other.port());
  const std::string clients = net.server.command({"CLIENT", "LIST"}).text;
  const std::string local = " addr=127.0.0.1:" + std::to_string(open[0].local_port) + ' ';
  EXPECT_NE(clients.find(local), std::string::npos) << local << clients;
  net.proxy.reset({open[0].number});
  EXPECT_THROW(net.link.command({"PING"}), redis_silent);
  EXPECT_EQ(moved.command({"PING"}).text, "PONG");
}

TEST_F(redis_proxy, draws_one_of_several_servers_from_a_seed) {
  through_a_proxy net;
  const redis_server other;
  const auto drawn = [&](std::uint64_t seed) {
    std::string ports;
    net.proxy.route_to({net.server.port(), other.port()}, seed);
    for (int i = 0; i < 16; ++i) {
      redis_link link("127.0.0.1", net.proxy.port());
      ports += port_behind(link) + ' ';
    }
    return ports;
  };
  const std::string ports = drawn(7);
  EXPECT_NE(ports.find(std::to_string(net.server.port())), std::string::npos);
  EXPECT_NE(ports.find(std::to_string(other.port())), std::string::npos);
  EXPECT_EQ(drawn(7), ports);
  EXPECT_NE(drawn(8), ports);
}

TEST_F(redis_proxy, delays_swallows_mutates_resets_and_refuses) {
  through_a_proxy net;
  net.proxy.set(direction::to_client, {.delay = 30ms});
  const auto begun = std::chrono::steady_clock::now();
  net.link.command({"PING"});
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 30ms);

  net.proxy.set(direction::to_client, {.mutate = [](std::string& bytes) { bytes[1] = 'Q'; }});
  EXPECT_EQ(net.link.command({"PING"}).text, "QONG");
  net.proxy.set_both({});

  net.proxy.set_both({.swallow = true}, applies_to::new_connections);
  redis_link silent("127.0.0.1", net.proxy.port());
  silent.send({"SET", "k", "v"});
  while (net.proxy.counts().accepted < 2) std::this_thread::yield();
  net.proxy.set_both({}, applies_to::new_connections);
  EXPECT_EQ(net.link.command({"PING"}).text, "PONG");
  EXPECT_TRUE(net.server.command({"GET", "k"}).is_nil());

  net.proxy.reset_all();
  EXPECT_THROW(net.link.command({"PING"}), redis_silent);
  net.proxy.refuse(true);
  EXPECT_THROW(redis_link("127.0.0.1", net.proxy.port()), redis_silent);
  net.proxy.refuse(false);
  EXPECT_EQ(redis_link("127.0.0.1", net.proxy.port()).command({"PING"}).text, "PONG");
}

}  // namespace
}  // namespace holdfast::testkit
