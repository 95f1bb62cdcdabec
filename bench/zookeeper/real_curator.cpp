#include "zookeeper/real_curator.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

using holdfast::testkit::curator_peer;
using holdfast::testkit::peer_answer;
using clock = std::chrono::steady_clock;  // the JVM's too

constexpr seconds warm_up{3};
constexpr std::chrono::milliseconds until_all_run{200};
constexpr unsigned warm_drains = 2, waiters_to_warm = 200;

std::string checked(const peer_answer& answer) {
  if (!answer.ok) throw std::runtime_error("the real Curator: " + answer.text);
  return answer.text;
}

std::string nanoseconds(clock::time_point at) {
  return std::to_string(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

std::string open_at(int port) { return "c main open 127.0.0.1:" + std::to_string(port); }

void need_curator() {
  if (const std::string& why = curator_peer::unavailable(); !why.empty()) throw row_skipped(why);
}

}  // namespace

curator_contenders_of::curator_contenders_of(int port, unsigned jvms, unsigned threads,
                                             std::string path)
    : threads_(threads), path_(std::move(path)) {
  need_curator();
  for (unsigned i = 0; i < jvms; ++i) {
    jvms_.push_back(std::make_unique<curator_peer>(curator_peer::tuning::full_speed));
    checked(jvms_.back()->ask(open_at(port)));
  }
  run(warm_up);
}

outcome curator_contenders_of::run(seconds length) {
  const auto from = clock::now() + until_all_run;
  const auto to = from + std::chrono::duration_cast<clock::duration>(length);
  const std::string words = "c main contenders mutex " + path_ + ' ' + std::to_string(threads_) +
                            ' ' + nanoseconds(from) + ' ' + nanoseconds(to);
  std::vector<curator_peer::call> calls;
  for (const auto& jvm : jvms_) calls.push_back(jvm->send(words));
  double sum = 0, most = 0, fewest = 1e18, used = 0;
  for (const auto& call : calls) {
    std::istringstream figures(checked(call.wait()));
    double all = 0, busiest = 0, idlest = 0, cpu = 0;
    figures >> all >> busiest >> idlest >> cpu;
    sum += all;
    most = std::max(most, busiest);
    fewest = std::min(fewest, idlest);
    used += cpu;
  }
  return {sum / length.count(),
          {{"max/min per worker", most / std::max(fewest, 0.5)},
           {"CPU us per cycle", used / 1e3 / std::max(sum, 0.5)}}};
}

peer curator_peer_of(int port, unsigned jvms, unsigned threads, const std::string& path) {
  return {"Curator in " + std::to_string(jvms) + (jvms == 1 ? " warm JVM" : " warm JVMs"),
          [=](seconds length) {
            try {
              return curator_contenders_of(port, jvms, threads, path).run(length).figure;
            } catch (const row_skipped& why) {
              throw peer_missing(why.what());
            }
          }};
}

curator_drain::curator_drain(int port, curator_sessions s)
    : jvm_((need_curator(), curator_peer::tuning::full_speed)),
      sessions_(s == curator_sessions::one_for_each ? " each" : "") {
  checked(jvm_.ask(open_at(port)));
  for (unsigned i = 0; i < warm_drains; ++i) run(waiters_to_warm);
}

double curator_drain::run(unsigned waiters) {
  std::istringstream figures(
      checked(jvm_.ask("c main drain mutex /drain-" + std::to_string(++runs_) + ' ' +
                       std::to_string(waiters) + sessions_)));
  double taken_ns = 0;
  figures >> taken_ns;
  return waiters * 1e9 / taken_ns;
}

}  // namespace bench
