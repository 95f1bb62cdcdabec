#include <holdfast/holdfast.hpp>

#include <cstdio>
#include <mutex>

int main() {
  auto client = holdfast::client::open("file:");  // a directory of this machine, no server
  auto nightly = client.mutex("nightly");         // share it between threads, as a std::mutex

  const std::lock_guard guard(nightly);  // waits its turn among all processes
  const holdfast::lease& lease = nightly.current();
  std::printf("token %lld\n", static_cast<long long>(lease.token()));  // for the resource to check
  return lease.held() ? 0 : 1;  // exact at any time: it reads the clock
}
