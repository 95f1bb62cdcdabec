#include "jvm_contenders.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using holdfast::testkit::java_peer;
using jvm_clock = std::chrono::steady_clock;  // System.nanoTime() is the same one

constexpr std::chrono::milliseconds until_all_run{200};

std::string nanoseconds(jvm_clock::time_point at) {
  return std::to_string(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

}  // namespace

std::string checked(const holdfast::testkit::peer_answer& answer, const std::string& peer) {
  if (!answer.ok) throw std::runtime_error(peer + ": " + answer.text);
  return answer.text;
}

void jvm_contenders::add(std::shared_ptr<java_peer> jvm, const std::string& open) {
  checked(jvm->ask(open), peer_);
  jvms_.push_back(std::move(jvm));
}

outcome jvm_contenders::run(const std::string& command, seconds length) {
  const auto from = jvm_clock::now() + until_all_run;
  const auto to = from + std::chrono::duration_cast<jvm_clock::duration>(length);
  std::vector<java_peer::call> calls;
  for (const auto& jvm : jvms_)
    calls.push_back(jvm->send(command + ' ' + nanoseconds(from) + ' ' + nanoseconds(to)));
  double sum = 0, most = 0, fewest = 1e18, used = 0;
  for (const auto& call : calls) {
    std::istringstream figures(checked(call.wait(), peer_));
    double all = 0, busiest = 0, idlest = 0, cpu_ns = 0;
    figures >> all >> busiest >> idlest >> cpu_ns;
    sum += all;
    most = std::max(most, busiest);
    fewest = std::min(fewest, idlest);
    used += cpu_ns;
  }
  return {sum / length.count(),
          {{"max/min per worker", most / std::max(fewest, 0.5)},
           {"CPU us per cycle", used / 1e3 / std::max(sum, 0.5)}}};
}

}  // namespace bench
