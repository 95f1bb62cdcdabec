#include "redis/real_redisson.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

using holdfast::testkit::peer_answer;
using holdfast::testkit::redisson_peer;
using clock = std::chrono::steady_clock;  // the JVM's too

constexpr seconds warm_up{6};
constexpr std::chrono::milliseconds until_all_run{200};

std::string checked(const peer_answer& answer) {
  if (!answer.ok) throw std::runtime_error("the real Redisson: " + answer.text);
  return answer.text;
}

std::string nanoseconds(clock::time_point at) {
  return std::to_string(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

}  // namespace

redisson_contenders_of::redisson_contenders_of(int port, unsigned jvms, unsigned threads,
                                               std::string name, const std::string& options)
    : threads_(threads), name_(std::move(name)) {
  const std::string& why_not = redisson_peer::unavailable();
  if (!why_not.empty()) throw row_skipped(why_not);
  const std::string open = "c main open redis://127.0.0.1:" + std::to_string(port) + ' ' + options;
  for (unsigned i = 0; i < jvms; ++i) {
    jvms_.push_back(std::make_unique<redisson_peer>(redisson_peer::tuning::full_speed));
    checked(jvms_.back()->ask(open));
  }
  run(warm_up);
}

outcome redisson_contenders_of::run(seconds length) {
  const auto from = clock::now() + until_all_run;
  const auto to = from + std::chrono::duration_cast<clock::duration>(length);
  const std::string words = "c main contenders lock " + name_ + ' ' + std::to_string(threads_) +
                            ' ' + nanoseconds(from) + ' ' + nanoseconds(to);
  std::vector<redisson_peer::call> calls;
  for (const auto& jvm : jvms_) calls.push_back(jvm->send(words));
  double sum = 0, most = 0, fewest = 1e18;
  for (const auto& call : calls) {
    std::istringstream figures(checked(call.wait()));
    double all = 0, busiest = 0, idlest = 0;
    figures >> all >> busiest >> idlest;
    sum += all;
    most = std::max(most, busiest);
    fewest = std::min(fewest, idlest);
  }
  return {sum / length.count(), {{"max/min per worker", most / std::max(fewest, 0.5)}}};
}

peer redisson_peer_of(int port, unsigned threads, const std::string& name) {
  return {"the real Redisson", [=](seconds length) {
            try {
              return redisson_contenders_of(port, 1, threads, name).run(length).figure;
            } catch (const row_skipped& why) {
              throw peer_missing(why.what());
            }
          }};
}

}  // namespace bench
