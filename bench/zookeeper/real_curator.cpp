#include "zookeeper/real_curator.hpp"

#include <sstream>

namespace bench {
namespace {

using holdfast::testkit::curator_peer;

constexpr seconds warm_up_of_curator{3};
constexpr unsigned warm_drains = 2, waiters_to_warm = 200;
constexpr const char* curator = "the real Curator";

std::string open_at(int port) { return "c main open 127.0.0.1:" + std::to_string(port); }

void need_curator() {
  if (const std::string& why = curator_peer::unavailable(); !why.empty()) throw row_skipped(why);
}

}  // namespace

curator_contenders_of::curator_contenders_of(int port, unsigned jvms, unsigned threads,
                                             const std::string& path)
    : command_("c main contenders mutex " + path + ' ' + std::to_string(threads)), jvms_(curator) {
  need_curator();
  for (unsigned i = 0; i < jvms; ++i)
    jvms_.add(std::make_shared<curator_peer>(curator_peer::tuning::full_speed), open_at(port));
  run(warm_up_of_curator);
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
  checked(jvm_.ask(open_at(port)), curator);
  for (unsigned i = 0; i < warm_drains; ++i) run(waiters_to_warm);
}

double curator_drain::run(unsigned waiters) {
  const std::string command = "c main drain mutex /drain-" + std::to_string(++runs_) + ' ' +
                              std::to_string(waiters) + sessions_;
  std::istringstream figures(checked(jvm_.ask(command), curator));
  double taken_ns = 0;
  figures >> taken_ns;
  return waiters * 1e9 / taken_ns;
}

}  // namespace bench
