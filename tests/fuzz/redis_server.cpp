// A client whose server answers whatever it likes: every call ends, with an outcome, in bounded
// time.
#include "fuzzed_world.hpp"

namespace {

using namespace std::chrono_literals;
using fuzzed::require;

void use(const holdfast::client& c) {
  const auto m = c.mutex("fuzzed");
  auto mine = m.try_acquire_for(10s, {.ttl = 3s});
  if (mine) {
    require(mine.token() > 0);
    std::error_code ec;
    mine.extend(5s, ec);
    mine.release(ec);
    require(!mine);
  }
  {
    const auto first = m.try_acquire();
    const auto second = m.try_acquire();
    require(!(first.held() && second.held()));
  }
  (void)c.list();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzzed::play({data, size}, use);
  return 0;
}
