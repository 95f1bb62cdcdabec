#include "contention/link_faults.hpp"

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace holdfast::contention {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::flow;
using testkit::tcp_proxy;

namespace {

constexpr std::chrono::milliseconds longest_break = 3s, longest_spoiling = 500ms;
constexpr std::size_t longest_prefix = 3000;  // bytes before a cut

using all_links = std::deque<tcp_proxy>;

std::vector<tcp_proxy*> chosen(all_links& all, dice& d) {
  if (!d.one_in(3)) return {&all[d.below(all.size())]};
  std::vector<tcp_proxy*> every;
  for (tcp_proxy& each : all) every.push_back(&each);
  return every;
}

// In one direction, or in both.
void set(tcp_proxy& link, const flow& f, std::size_t where) {
  if (where != 1) link.set(direction::to_server, f);
  if (where != 2) link.set(direction::to_client, f);
}

// Changes the flow for a while.
std::function<void(dice&)> with(all_links& all, std::function<flow(dice&)> made) {
  return [&all, made = std::move(made)](dice& d) {
    const auto some = chosen(all, d);
    const auto where = d.below(3);
    const flow changed = made(d);
    for (tcp_proxy* each : some) set(*each, changed, where);
    std::this_thread::sleep_for(d.between(50ms, longest_break));
    for (tcp_proxy* each : some) set(*each, {}, where);
  };
}

void cut(all_links& all, dice& d) {
  for (tcp_proxy* each : chosen(all, d)) each->reset_all();
}

void cut_inside_a_message(all_links& all, dice& d) {
  const auto some = chosen(all, d);
  const auto where = d.one_in(2) ? direction::to_server : direction::to_client;
  for (tcp_proxy* each : some) each->cut_after(where, d.below(longest_prefix));
  std::this_thread::sleep_for(d.between(50ms, 500ms));
  for (tcp_proxy* each : some) each->cut_after(where, UINT64_MAX);
}

// As where packets are lost: what is sent within some milliseconds arrives after a retransmission
// timeout, and what is sent after it waits.
void lose(all_links& all, dice& d) {
  constexpr std::size_t most_losses = 20;
  const auto some = chosen(all, d);
  const auto where = d.below(3);
  for (auto losses = 1 + d.below(most_losses); losses > 0; --losses) {
    const flow late{.delay = d.between(200ms, 400ms)};
    for (tcp_proxy* each : some) set(*each, late, where);
    std::this_thread::sleep_for(d.between(1ms, 20ms));
    for (tcp_proxy* each : some) set(*each, {}, where);
    std::this_thread::sleep_for(d.between(1ms, 200ms));
  }
}

// No connection goes on that has brought a spoilt reply, nor one that is made meanwhile.
std::function<void(dice&)> with_spoilt(all_links& all, wire_protocol protocol, spoiling what) {
  return [&all, protocol, what](dice& d) {
    const auto some = chosen(all, d);
    for (tcp_proxy* each : some)
      each->set(direction::to_client, spoilt_replies(protocol, what, d.number()));
    std::this_thread::sleep_for(d.between(50ms, longest_spoiling));
    for (tcp_proxy* each : some) {
      each->refuse(true);
      each->reset_all();
      each->set(direction::to_client, {});
      each->refuse(false);
    }
  };
}

void refuse(all_links& all, dice& d) {
  const auto some = chosen(all, d);
  for (tcp_proxy* each : some) {
    each->refuse(true);
    each->reset_all();
  }
  std::this_thread::sleep_for(d.between(50ms, longest_break));
  for (tcp_proxy* each : some) each->refuse(false);
}

}  // namespace

std::vector<fault> link_faults(all_links& all, wire_protocol protocol,
                               std::chrono::milliseconds excuse) {
  return {
      {"link.cut", [&all](dice& d) { cut(all, d); }, excuse},
      {"link.cut-inside", [&all](dice& d) { cut_inside_a_message(all, d); }, excuse},
      {"link.refuse", [&all](dice& d) { refuse(all, d); }, excuse},
      {"link.freeze", with(all, [](dice&) { return flow{.hold = true}; })},
      {"link.swallow", with(all, [](dice&) { return flow{.swallow = true}; }), excuse},
      {"link.delay", with(all, [](dice& d) { return flow{.delay = d.between(1ms, 80ms)}; })},
      {"link.loss", [&all](dice& d) { lose(all, d); }},
      {"link.garbage", with_spoilt(all, protocol, spoiling::garbage), excuse},
      {"link.overlong", with_spoilt(all, protocol, spoiling::overlong), excuse},
      {"link.truncate", with_spoilt(all, protocol, spoiling::truncated), excuse},
  };
}

fault end_of_links(all_links& all, std::chrono::milliseconds excuse) {
  return {"link.cut",
          [&all](dice&) {
            for (tcp_proxy& each : all) each.reset_all();
          },
          excuse};
}

}  // namespace holdfast::contention
