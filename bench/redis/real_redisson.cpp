#include "redis/real_redisson.hpp"

namespace bench {
namespace {

using holdfast::testkit::redisson_peer;

constexpr seconds warm_up_of_redisson{6};

}  // namespace

redisson_contenders_of::redisson_contenders_of(int port, unsigned jvms, unsigned threads,
                                               const std::string& name, const std::string& options)
    : command_("c main contenders lock " + name + ' ' + std::to_string(threads)),
      jvms_("the real Redisson") {
  const std::string& why_not = redisson_peer::unavailable();
  if (!why_not.empty()) throw row_skipped(why_not);
  const std::string open = "c main open redis://127.0.0.1:" + std::to_string(port) + ' ' + options;
  for (unsigned i = 0; i < jvms; ++i)
    jvms_.add(std::make_shared<redisson_peer>(redisson_peer::tuning::full_speed), open);
  run(warm_up_of_redisson);
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
