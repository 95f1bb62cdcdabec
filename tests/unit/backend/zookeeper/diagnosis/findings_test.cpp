#include "backend/zookeeper/diagnosis/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using enum finding_grade;

server_facts sound_server(const std::string& name, server_mode mode) {
  server_facts s;
  s.name = name;
  s.srvr = "Zookeeper version: 3.9.2-abc, built on 2024\nConnections: 7\nMode: x\n";
  s.was_open = true;
  s.mode = mode;
  s.shortest = 4s;
  s.longest = 40s;
  s.has_local_sessions = false;
  return s;
}

ensemble_facts sound_ensemble() {
  ensemble_facts f;
  f.servers = {sound_server("a:1", server_mode::follower), sound_server("b:1", server_mode::leader),
               sound_server("c:1", server_mode::follower)};
  f.asked = f.granted = 30s;
  f.op_timeout = 5s;
  f.has_tls = true;
  f.tree.root = "/locks";
  f.tree.are_all = true;
  f.tree.trips = {1ms, 2ms};
  f.tree.clock = {.offset = 10ms, .trip = 2ms};
  return f;
}

finding zookeeper_finding(const ensemble_facts& f, std::string_view what) {
  const auto all = grade_all(f);
  return *std::ranges::find(all, what, &finding::what);
}

TEST(zookeeper_grading, of_a_sound_ensemble_finds_nothing_to_do) {
  for (const finding& f : grade_all(sound_ensemble())) {
    EXPECT_EQ(f.grade, good) << f.what << ": " << f.why;
    EXPECT_EQ(f.remedy, "") << f.what;
  }
}

TEST(zookeeper_grading, of_an_observer_says_that_it_has_no_vote) {
  ensemble_facts f = sound_ensemble();
  f.servers.push_back(sound_server("d:1", server_mode::observer));
  const finding servers = zookeeper_finding(f, "servers");
  EXPECT_EQ(servers.grade, good);
  EXPECT_EQ(servers.why, "4 of 4 servers of the URL serve; d:1 observes and has no vote");
}

TEST(zookeeper_grading, each_fault_has_its_grade_and_a_remedy) {
  const struct {
    const char* what;
    finding_grade grade;
    void (*spoil)(ensemble_facts&);
  } cases[] = {
      {"servers", warn,
       [](ensemble_facts& f) {
         f.servers[0].no_session = {errc::unavailable, ""};
       }},
      {"servers", bad,
       [](ensemble_facts& f) {
         for (auto& s : f.servers) s.no_session = {errc::unavailable, "x"};
       }},
      {"servers", warn, [](ensemble_facts& f) { f.servers.resize(1); }},
      {"leader", warn,
       [](ensemble_facts& f) {
         f.servers[1].no_session = {errc::unavailable, ""};
       }},
      {"leader", bad,
       [](ensemble_facts& f) {
         f.servers.erase(f.servers.begin() + 1);
         f.attach = attach_to::leader;
       }},
      {"version", warn,
       [](ensemble_facts& f) { f.servers[2].srvr = "Zookeeper version: 3.8.0-1"; }},
      {"version", bad,
       [](ensemble_facts& f) { f.servers[2].srvr = "Zookeeper version: 3.4.14-1"; }},
      {"timeouts", bad, [](ensemble_facts& f) { f.servers[2].longest = 20s; }},
      {"timeouts", warn, [](ensemble_facts& f) { f.asked = 60s; }},
      {"connections", warn,
       [](ensemble_facts& f) {
         f.servers[1].no_session = {errc::unavailable, "nothing listens there"};
       }},
      {"connections", bad,
       [](ensemble_facts& f) {
         f.servers[2].no_session = {errc::unavailable, "x"};
         f.servers[2].srvr.clear();
       }},
      {"sessions", warn, [](ensemble_facts& f) { f.servers[2].has_local_sessions = true; }},
      {"tls", warn, [](ensemble_facts& f) { f.has_tls = false; }},
      {"rights", bad, [](ensemble_facts& f) { f.tree.create_code = error::no_auth; }},
      {"rights", bad, [](ensemble_facts& f) { f.tree.create_code = error{-120}; }},
      {"rights", warn, [](ensemble_facts& f) { f.tree.remove_code = error::no_auth; }},
      {"rights", warn, [](ensemble_facts& f) { f.tree.list_code = error::no_auth; }},
      {"rights", warn,
       [](ensemble_facts& f) {
         f.tree.unread = {errc::unavailable, "x"};
       }},
      {"acl", warn,
       [](ensemble_facts& f) {
         f.tree.acl = {{31, "world", "anyone"}};
       }},
      {"acl", warn, [](ensemble_facts& f) { f.tree.open = {"job"}; }},
      {"acl", warn, [](ensemble_facts& f) { f.tree.acl_code = error::no_auth; }},
      {"sequences", warn,
       [](ensemble_facts& f) {
         f.tree.sequence = 2'000'000'000;
         f.tree.most_used = "job";
       }},
      {"sequences", bad, [](ensemble_facts& f) { f.tree.sequence = 2'147'473'647; }},
      {"nodes", warn, [](ensemble_facts& f) { f.tree.odd = {"job (it holds data)"}; }},
      {"clock", warn, [](ensemble_facts& f) { f.tree.clock->offset = -3s; }},
      {"clock", warn, [](ensemble_facts& f) { f.tree.clock.reset(); }},
      {"latency", warn, [](ensemble_facts& f) { f.tree.trips = {150ms}; }},
      {"latency", bad, [](ensemble_facts& f) { f.tree.trips = {3s}; }},
  };
  for (const auto& c : cases) {
    ensemble_facts f = sound_ensemble();
    c.spoil(f);
    const finding found = zookeeper_finding(f, c.what);
    EXPECT_EQ(found.grade, c.grade) << c.what << ": " << found.why;
    EXPECT_NE(found.remedy, "") << c.what << ": " << found.why;
  }
}

}  // namespace
}  // namespace holdfast::zookeeper
