// Findings from measurements: the two clocks, the round trip, and the counter of numbers.
#include <algorithm>

#include "backend/redis/diagnosis/findings.hpp"
#include "base/number.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using grade = finding_grade;

constexpr duration offset_max = 1s;
constexpr duration trip_max = 100ms;
constexpr server_time counter_ahead_max = 1s;  // further ahead, no number of it is believed

std::string ms_text(duration d) {
  return std::to_string(std::chrono::round<std::chrono::milliseconds>(d).count()) + " ms";
}

// "0.24 ms"; longer ones without a fraction.
std::string span_text(duration d) {
  if (d >= 10ms) return ms_text(d);
  const auto us = std::chrono::round<std::chrono::microseconds>(d).count();
  const auto rest = std::to_string(us % 1000 / 10);
  return std::to_string(us / 1000) + '.' + (rest.size() < 2 ? "0" : "") + rest + " ms";
}

std::string ahead_or_behind(duration offset) {
  return ms_text(offset < 0ms ? -offset : offset) + (offset < 0ms ? " behind" : " ahead of");
}

}  // namespace

finding grade_clock(const server_facts& f) {
  if (!f.times.is_known() || !f.clock)
    return {"clock", grade::warn,
            "not known: " + (f.times.is_known() ? "TIME did not return a time" : f.times.refusal),
            "ACL SETUSER " + f.user + " +time"};
  const duration offset = f.clock->offset;
  const std::string text = "the server's clock is " + ahead_or_behind(offset) +
                           " this machine's (to " + span_text(f.clock->trip / 2) + ')';
  if ((offset < 0ms ? -offset : offset) - f.clock->trip / 2 <= offset_max)
    return {"clock", grade::good, text, {}};
  return {"clock", grade::warn,
          text + ": leases do not depend on it, but setting the server's clock ends them early "
                 "(forward) or stops new ones (back)",
          "let NTP keep both clocks, and slew rather than step them"};
}

finding grade_latency(const server_facts& f) {
  if (!f.pings.is_known() || f.trips.empty())
    return {"latency", grade::warn,
            "not known: " + (f.pings.is_known() ? "no PING was sent" : f.pings.refusal),
            "ACL SETUSER " + f.user + " +ping"};
  const auto [least, most] = std::minmax_element(f.trips.begin(), f.trips.end());
  const std::string text = std::to_string(f.trips.size()) + " round trips took " +
                           span_text(*least) + " to " + span_text(*most);
  if (*most > f.op_timeout / 2)
    return {"latency", grade::bad,
            text + ", more than half of the op-timeout: requests end with an unknown outcome",
            "move the client nearer to the server, or raise ?op-timeout="};
  if (*most <= trip_max) return {"latency", grade::good, text, {}};
  return {"latency", grade::warn, text + ": each acquire and hand-over takes as long",
          "move the client nearer to the server, or find what keeps it busy (SLOWLOG GET)"};
}

finding grade_counter(const server_facts& f) {
  if (f.counts_by_lock)
    return {"counter", grade::good, "each lock of this layout has a counter of its own", {}};
  if (f.counts_by_slot)
    return {"counter", grade::good, "each slot of the cluster has a counter of its own", {}};
  if (f.counts_by_server)
    return {"counter",
            grade::good,
            "each server counts its votes: a token is a number that a majority has stored",
            {}};
  if (f.counter_key.empty())
    return {"counter", grade::warn,
            "this layout has no fencing tokens: nothing but the deadline protects what is locked",
            "use layout=string, and check tokens at the resource"};
  if (!f.counter.is_known() || f.now == server_time::zero())
    return {"counter", grade::warn,
            "not known: " + (f.counter.is_known() ? "TIME is not known" : f.counter.refusal),
            "ACL SETUSER " + f.user + " +get +time ~holdfast:*"};
  const std::string key(f.counter_key);
  const auto number = base::whole_number<std::int64_t>(f.counter.text);
  if (!f.counter.text.empty() && !number)
    return {"counter", grade::bad, "the key " + key + " does not hold a number: nothing is granted",
            "find the program that writes to it, then DEL " + key};
  const server_time ahead =
      server_time{std::clamp<std::int64_t>(number.value_or(0), 0, number_max)} - f.now;
  if (ahead <= counter_ahead_max / 10)
    return {"counter", grade::good, "the tokens' counter is not ahead of the server's clock", {}};
  const std::string text =
      "the tokens' counter is " + ms_text(ahead) + " ahead of the server's clock";
  if (ahead <= counter_ahead_max)
    return {"counter", grade::warn,
            text + ": one that is a second ahead grants nothing to new connections",
            "let NTP slew the server's clock"};
  return {"counter", grade::bad,
          text +
              ": a new connection is granted nothing until the clock has caught up. The clock was "
              "set back, or a program wrote to " +
              key,
          "correct the server's clock; where no program holds a lock or checks older tokens: DEL " +
              key};
}

}  // namespace holdfast::redis
