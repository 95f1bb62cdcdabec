#include "faults.hpp"

namespace holdfast::redis_test {
namespace {

using lanes = std::vector<std::string>;

// The replica loses the stream, or not, is promoted, and both names lead to it.
int promote(balanced_servers& s, bool loses_stream) {
  const int next = s.another();
  s.at(next).promote();
  if (loses_stream) s.pause(200, 900);
  s.lead_to(next);
  s.appoint(next);
  return next;
}

void promote_and_cut(balanced_servers& s, bool loses_stream) {
  static const lanes choices[] = {{"commands"},
                                  {"renewals"},
                                  {"commands", "renewals"},
                                  {"commands", "messages"},
                                  {"messages", "renewals"},
                                  {"commands", "messages", "renewals"}};
  const int former = s.master();
  promote(s, loses_stream);
  s.cut(former, choices[s.draw(0, 5)]);
  s.pause(1'200, 2'500);
}

void cut_lanes(balanced_servers& s) { promote_and_cut(s, false); }
void cut_lanes_after_loss(balanced_servers& s) { promote_and_cut(s, true); }

void cut_nothing(balanced_servers& s) {
  promote(s, false);
  s.pause(1'200, 2'500);
}

void cut_nothing_after_loss(balanced_servers& s) {
  promote(s, true);
  s.pause(1'200, 2'500);
}

void new_connections_hang(balanced_servers& s) {
  const int next = s.another();
  s.at(next).promote();
  s.name.proxy.set_both({.hold = true}, applies_to::new_connections);
  s.lead_to(next);
  s.appoint(next);
  s.cut_some();
  s.pause(500, 2'000);
  s.name.proxy.set_both({});
  s.pause(500, 1'000);
}

void fail_over(balanced_servers& s) {
  const int next = s.another();
  s.right_master().fail_over_to(s.at(next));
  s.lead_to(next);
  s.appoint(next);
  s.pause(500, 1'500);
}

void fail_over_and_back(balanced_servers& s) {
  const int first = s.master();
  fail_over(s);
  s.right_master().fail_over_to(s.at(first));
  s.lead_to(first);
  s.appoint(first);
  s.pause(500, 1'500);
}

// New connections go to any server, and most of those are replicas.
void any_server(balanced_servers& s) {
  s.lead_to_any();
  for (int i = 0; i < 4; ++i) {
    s.cut_some();
    s.pause(100, 400);
  }
  const int next = s.another();
  s.right_master().fail_over_to(s.at(next));
  s.appoint(next);
  for (int i = 0; i < 4; ++i) {
    s.cut_some();
    s.pause(100, 400);
  }
}

void visit(balanced_servers& s, int server) {
  s.lead_to(server);
  s.cut_all();
  s.pause(300, 900);
}

// For longer than any window that a busy machine is allowed: a client that is let in there overlaps
// beyond it.
void stay_at_former(balanced_servers& s, int former) {
  visit(s, former);
  s.pause(1'500, 2'000);
}

void flap(balanced_servers& s) {
  const int former = s.master();
  const int next = promote(s, s.draw(0, 1) == 0);
  visit(s, next);
  stay_at_former(s, former);
  visit(s, next);
}

void chain(balanced_servers& s) {
  const int first = s.master();
  const int second = promote(s, false);
  s.at(3 - first - second).replicate(s.at(second));
  visit(s, second);
  const int third = 3 - first - second;
  s.at(third).promote();
  s.lead_to(third);
  s.appoint(third);
  visit(s, third);
  visit(s, second);
  visit(s, first);
  visit(s, third);
}

void changed_id(balanced_servers& s) {
  const int former = s.master();
  const int next = promote(s, true);
  visit(s, next);
  s.at(former).command({"DEBUG", "CHANGE-REPL-ID"});
  visit(s, former);
  visit(s, next);
}

void stopped_master(balanced_servers& s) {
  const int former = s.master();
  s.at(former).stop();
  promote(s, false);
  if (s.draw(0, 1) == 0) s.cut_some();
  s.pause(300, 2'000);
  s.at(former).go_on();
  s.pause(500, 1'000);
}

void killed_master(balanced_servers& s) {
  const int former = s.master();
  s.at(former).kill_hard();
  promote(s, false);
  s.pause(500, 1'500);
  s.at(former).start();
}

void two_masters(balanced_servers& s) {
  const int former = s.master();
  const int next = promote(s, true);
  s.lead_at_random({former, next});
  s.cut_all();
  s.pause(1'000, 2'000);
}

constexpr fault_kind kinds[] = {
    {"promoted, lanes cut", window::handshake, cut_lanes},
    {"stream lost, lanes cut", window::handshake, cut_lanes_after_loss},
    {"promoted, nothing cut", window::probe, cut_nothing},
    {"stream lost, nothing cut", window::probe, cut_nothing_after_loss},
    {"new connections hang", window::lease, new_connections_hang},
    {"failover, nothing cut", window::none, fail_over},
    {"failover and back", window::none, fail_over_and_back},
    {"any of the servers", window::none, any_server},
    {"back to a former master", window::handshake, flap},
    {"back to two former masters", window::handshake, chain, 3},
    {"back, its id has changed", window::handshake, changed_id},
    {"former master stopped", window::lease, stopped_master},
    {"former master killed", window::handshake, killed_master},
    {"two masters at random", window::unbounded, two_masters},
};

}  // namespace

std::span<const fault_kind> fault_kinds() { return kinds; }

}  // namespace holdfast::redis_test
