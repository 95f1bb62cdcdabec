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

constexpr auto longest_break = 3s;
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

std::vector<fault> link_faults(all_links& all, std::chrono::milliseconds excuse) {
  return {
      {"link.cut", [&all](dice& d) { cut(all, d); }, excuse},
      {"link.cut-inside", [&all](dice& d) { cut_inside_a_message(all, d); }, excuse},
      {"link.refuse", [&all](dice& d) { refuse(all, d); }, excuse},
      {"link.freeze", with(all, [](dice&) { return flow{.hold = true}; })},
      {"link.swallow", with(all, [](dice&) { return flow{.swallow = true}; }), excuse},
      {"link.delay", with(all, [](dice& d) { return flow{.delay = d.between(1ms, 80ms)}; })},
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
