#include "backend/zookeeper/diagnosis/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

template <class Spoil>
finding spoiled(std::string_view what, Spoil spoil) {
  ensemble_facts f = sound_ensemble();
  spoil(f);
  return zookeeper_finding(f, what);
}

bool has(const finding& f, std::string_view text) { return f.why.find(text) != f.why.npos; }

TEST(zookeeper_grading, names_each_version_once_and_the_versions_that_keep_replies_back) {
  const auto version_of_all = [](const std::string& number) {
    return spoiled("version", [&](ensemble_facts& f) {
      for (auto& s : f.servers) s.srvr = "Zookeeper version: " + number + "-abc, built on 2024\n";
    });
  };
  for (const char* const number : {"3.5.0", "3.6.9", "3.7.2", "3.8.1", "4.0.0", "3.10.1"}) {
    EXPECT_EQ(version_of_all(number).grade, good) << number;
    EXPECT_EQ(version_of_all(number).why, std::string("ZooKeeper ") + number);
  }
  for (const char* const number : {"3.7.0", "3.7.1", "3.8.0"})
    EXPECT_EQ(version_of_all(number).grade, warn) << number;
  for (const char* const number : {"3.4.14", "2.9.9", "3.4"})
    EXPECT_EQ(version_of_all(number).grade, bad) << number;
  const finding mixed = spoiled("version", [](ensemble_facts& f) {
    f.servers[2].srvr = "Zookeeper version: 3.8.0-1";
  });
  EXPECT_TRUE(has(mixed, "ZooKeeper 3.9.2, 3.8.0: a quiet follower of 3.8.0")) << mixed.why;
  const finding silent = spoiled("version", [](ensemble_facts& f) {
    for (auto& s : f.servers) s.srvr.clear();
  });
  EXPECT_EQ(silent.grade, warn);
  EXPECT_TRUE(has(silent, "not known: no server answers srvr")) << silent.why;
}

TEST(zookeeper_grading, counts_the_servers_that_serve_and_says_why_others_do_not) {
  const finding one = spoiled("servers", [](ensemble_facts& f) {
    f.servers[0].no_session = {errc::unavailable, "no session\x01"};
    f.servers[2].no_session = {errc::unavailable, "no session"};
    f.servers[2].unreached = {errc::unavailable, "nothing listens"};
  });
  EXPECT_EQ(one.why, "1 of 3 servers of the URL serve; a:1: no session?; c:1: nothing listens");
  const finding none = spoiled("servers", [](ensemble_facts& f) {
    for (auto& s : f.servers) s.no_session = {errc::unavailable, std::string(101, '~')};
  });
  EXPECT_TRUE(none.why.ends_with("; c:1: " + std::string(100, '~'))) << none.why;
  const finding alone = spoiled("servers", [](ensemble_facts& f) {
    f.servers = {sound_server("a:1", server_mode::standalone)};
  });
  EXPECT_TRUE(has(alone, "a single server: while it is down")) << alone.why;
  const finding first = spoiled("servers", [](ensemble_facts& f) { f.servers.resize(1); });
  EXPECT_TRUE(has(first, "the URL names one server of an ensemble")) << first.why;
}

TEST(zookeeper_grading, says_how_sessions_are_renewed) {
  const finding any = zookeeper_finding(sound_ensemble(), "leader");
  EXPECT_EQ(any.why, "b:1 leads; sessions are renewed by new connections (attach=any)");
  const finding there = spoiled("leader", [](ensemble_facts& f) { f.attach = attach_to::leader; });
  EXPECT_EQ(there.why, "b:1 leads: sessions are attached there and renewed by their writes");
  const finding refusing = spoiled("leader", [](ensemble_facts& f) {
    f.attach = attach_to::leader;
    f.servers[1].no_session = {errc::unavailable, "x"};
  });
  EXPECT_EQ(refusing.grade, bad);
  EXPECT_TRUE(has(refusing, "b:1 leads but accepts no session")) << refusing.why;
  const finding silent = spoiled("leader", [](ensemble_facts& f) {
    f.attach = attach_to::leader;
    f.servers[1].mode = server_mode::unknown;
  });
  EXPECT_EQ(silent.grade, warn);
  EXPECT_TRUE(has(silent, "srvr is not answered by b:1,")) << silent.why;
  const finding down = spoiled("leader", [](ensemble_facts& f) {
    f.servers[1].mode = server_mode::unknown;
    f.servers[1].no_session = {errc::unavailable, "x"};
  });
  EXPECT_EQ(down.grade, warn);
  EXPECT_TRUE(has(down, "none of the servers of the URL leads")) << down.why;
}

TEST(zookeeper_grading, a_session_timeout_is_within_the_bounds_of_all_servers) {
  const auto asked = [](duration d) {
    return spoiled("timeouts", [&](ensemble_facts& f) { f.asked = d; });
  };
  EXPECT_EQ(asked(4s).grade, good);
  EXPECT_EQ(asked(40s).grade, good);
  EXPECT_EQ(asked(40s).why, "all servers grant 4000 ms to 40000 ms");
  EXPECT_EQ(asked(3999ms).grade, warn);
  EXPECT_TRUE(has(asked(3999ms), "sessions get 4000 ms")) << asked(3999ms).why;
  EXPECT_TRUE(has(asked(41s), "sessions get 40000 ms")) << asked(41s).why;
  const finding shorter =
      spoiled("timeouts", [](ensemble_facts& f) { f.servers[0].shortest = 1s; });
  EXPECT_EQ(shorter.grade, bad);
  EXPECT_TRUE(has(shorter, "(a:1 1000 ms to 40000 ms, b:1 4000 ms to 40000 ms, c:1"));
  const finding unread = spoiled("timeouts", [](ensemble_facts& f) {
    f.servers[0].longest = f.servers[0].shortest = {};
  });
  EXPECT_EQ(unread.grade, good) << "what one server grants is not known";
  const finding none = spoiled("timeouts", [](ensemble_facts& f) {
    for (auto& s : f.servers) s.longest = {};
  });
  EXPECT_EQ(none.grade, warn);
  EXPECT_TRUE(has(none, "not known")) << none.why;
}

TEST(zookeeper_grading, a_server_at_its_limit_of_connections_ends_them_without_a_word) {
  EXPECT_EQ(zookeeper_finding(sound_ensemble(), "connections").why,
            "each server accepted one more connection from this address (a:1 has 7, b:1 has 7, "
            "c:1 has 7)");
  const finding closed = spoiled("connections", [](ensemble_facts& f) {
    f.servers[2].no_session = {errc::unavailable, "x"};
    f.servers[2].srvr.clear();
  });
  EXPECT_TRUE(has(closed, "c:1 accepts a connection and closes it")) << closed.why;
  const finding wordless =
      spoiled("connections", [](ensemble_facts& f) { f.servers[2].srvr.clear(); });
  EXPECT_EQ(wordless.grade, good) << "srvr is not allowed there: " << wordless.why;
  const finding unreached = spoiled("connections", [](ensemble_facts& f) {
    f.servers[2].no_session = {errc::unavailable, "x"};
    f.servers[2].srvr.clear();
    f.servers[2].was_open = false;
  });
  EXPECT_EQ(unreached.grade, warn);
  EXPECT_TRUE(has(unreached, "not known of c:1")) << unreached.why;
}

TEST(zookeeper_grading, local_sessions_may_be_unknown) {
  const finding unknown = spoiled("sessions", [](ensemble_facts& f) {
    for (auto& s : f.servers) s.has_local_sessions.reset();
  });
  EXPECT_EQ(unknown.grade, warn);
  EXPECT_TRUE(has(unknown, "not known")) << unknown.why;
  const finding known_of_one = spoiled("sessions", [](ensemble_facts& f) {
    f.servers[0].has_local_sessions.reset();
    f.servers[1].has_local_sessions.reset();
  });
  EXPECT_EQ(known_of_one.grade, good);
}

TEST(zookeeper_grading, a_password_is_read_where_nothing_is_encrypted) {
  const auto plain = [](bool has_user) {
    return spoiled("tls", [&](ensemble_facts& f) {
      f.has_tls = false;
      f.has_user = has_user;
    });
  };
  EXPECT_TRUE(plain(true).why.ends_with(", and reads the password"));
  EXPECT_TRUE(plain(false).why.ends_with("sessions and locks"));
}

TEST(zookeeper_grading, rights_of_everybody_to_create_are_those_to_delete) {
  const auto acl = [](std::vector<acl_entry> all) {
    return spoiled("acl", [&](ensemble_facts& f) { f.tree.acl = std::move(all); }).grade;
  };
  EXPECT_EQ(acl({{4, "world", "anyone"}}), warn);
  EXPECT_EQ(acl({{27, "world", "anyone"}}), good) << "everything but create";
  EXPECT_EQ(acl({{31, "digest", "anyone"}, {31, "world", "x"}}), good);
  const finding open = spoiled("acl", [](ensemble_facts& f) {
    f.tree.open = {"a", "b", "c", "d", "e"};
  });
  EXPECT_TRUE(has(open, "has d at a, b, c, d, e)")) << open.why;
  const finding many =
      spoiled("acl", [](ensemble_facts& f) { f.tree.open = {"a", "b", "c", "d", "e", "f"}; });
  EXPECT_TRUE(has(many, "has d at a, b, c, d, e ...)")) << many.why;
  const finding at_root = spoiled("acl", [](ensemble_facts& f) {
    f.tree.acl = {{31, "world", "anyone"}};
  });
  EXPECT_TRUE(has(at_root, "has d at /locks)")) << at_root.why;
}

TEST(zookeeper_grading, sequences_come_close_to_their_limit) {
  const auto at = [](std::int64_t sequence) {
    return spoiled("sequences", [&](ensemble_facts& f) {
      f.tree.sequence = sequence;
      f.tree.most_used = "job";
    });
  };
  EXPECT_EQ(at(1'999'999'999).grade, good);
  EXPECT_EQ(at(2'000'000'000).grade, warn);
  EXPECT_EQ(at(2'147'473'646).grade, warn);
  EXPECT_EQ(at(2'147'473'647).grade, bad);
  EXPECT_EQ(at(5).why, "job has had 5 nodes of at most 2147483647; no other lock has had more");
  EXPECT_EQ(zookeeper_finding(sound_ensemble(), "sequences").why, "no lock has been used yet");
  const finding some = spoiled("sequences", [](ensemble_facts& f) {
    f.tree.sequence = 5;
    f.tree.most_used = "job";
    f.tree.are_all = false;
    f.tree.locks = 1'000;
  });
  EXPECT_TRUE(some.why.ends_with("(of the first 1000 locks)")) << some.why;
  const finding unlisted =
      spoiled("sequences", [](ensemble_facts& f) { f.tree.list_code = error::no_auth; });
  EXPECT_EQ(unlisted.grade, warn);
}

TEST(zookeeper_grading, counts_the_locks_under_the_root) {
  const auto nodes = [](bool are_all) {
    return spoiled("nodes",
                   [&](ensemble_facts& f) {
                     f.tree.locks = 3;
                     f.tree.are_all = are_all;
                   })
        .why;
  };
  EXPECT_EQ(nodes(true), "3 locks are under /locks, and nothing else");
  EXPECT_EQ(nodes(false), "3 locks are under /locks, or more");
}

TEST(zookeeper_grading, a_clock_may_differ_by_a_second_and_half_of_the_round_trip) {
  const auto clock = [](duration offset) {
    return spoiled("clock",
                   [&](ensemble_facts& f) { f.tree.clock = {.offset = offset, .trip = 2ms}; });
  };
  EXPECT_EQ(clock(1001ms).grade, good);
  EXPECT_EQ(clock(1002ms).grade, warn);
  EXPECT_EQ(clock(-1001ms).grade, good);
  EXPECT_EQ(clock(-1002ms).grade, warn);
  EXPECT_EQ(clock(10ms).why, "the leader's clock is 10 ms ahead of this machine's");
  EXPECT_EQ(clock(-10ms).why, "the leader's clock is 10 ms behind this machine's");
  EXPECT_EQ(clock(0ms).why, "the leader's clock is 0 ms ahead of this machine's");
}

TEST(zookeeper_grading, a_round_trip_takes_a_tenth_of_a_second_or_half_of_the_op_timeout_at_most) {
  const auto latency = [](std::vector<duration> trips) {
    return spoiled("latency", [&](ensemble_facts& f) { f.tree.trips = std::move(trips); });
  };
  EXPECT_EQ(latency({100ms}).grade, good);
  EXPECT_EQ(latency({1ms, 101ms}).grade, warn);
  EXPECT_EQ(latency({2500ms}).grade, warn);
  EXPECT_EQ(latency({2501ms, 1ms}).grade, bad);
  EXPECT_EQ(latency({1ms, 1600us, 2ms}).why, "3 round trips took 1 ms to 2 ms");
  EXPECT_EQ(latency({}).grade, warn);
}

TEST(zookeeper_grading, what_needs_a_session_is_not_known_without_one) {
  for (const char* const what : {"rights", "acl", "sequences", "nodes", "clock", "latency"}) {
    const finding f = spoiled(what, [](ensemble_facts& e) {
      e.tree.unread = {errc::unavailable, "the reason"};
    });
    EXPECT_EQ(f.grade, warn) << what;
    EXPECT_EQ(f.why, "not known: the reason") << what;
  }
}

TEST(zookeeper_grading, refused_rights_name_the_right_that_is_missing) {
  const auto rights = [](error tree_facts::*code, error e) {
    return spoiled("rights", [&](ensemble_facts& f) { f.tree.*code = e; });
  };
  EXPECT_EQ(rights(&tree_facts::create_code, error::no_auth).remedy,
            "give it the right c in the ACL of /locks");
  EXPECT_TRUE(has(rights(&tree_facts::create_code, error{-120}), "(error -120)"));
  EXPECT_EQ(rights(&tree_facts::remove_code, error::no_auth).remedy,
            "give it the right d in the ACL of /locks");
  EXPECT_EQ(rights(&tree_facts::list_code, error::no_auth).remedy,
            "give it the right r in the ACL of /locks");
  EXPECT_EQ(rights(&tree_facts::remove_code, error::no_node).grade, good) << "it is gone already";
}

}  // namespace
}  // namespace holdfast::zookeeper
