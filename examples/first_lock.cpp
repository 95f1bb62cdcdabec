// One process at a time runs the job: the smallest program with a lock.
#include <holdfast/holdfast.hpp>

#include <cstdio>
#include <exception>
#include <mutex>

void run_nightly_job(const holdfast::lease& lease) {
  std::printf("token %lld\n", static_cast<long long>(lease.token()));
}

int main() try {
  auto client = holdfast::client::open("file:");  // a directory of this machine, no server
  auto nightly = client.mutex("nightly");         // threads may share it, as a std::mutex

  const std::lock_guard guard(nightly);  // blocks until no other process holds "nightly"
  run_nightly_job(nightly.current());
  return nightly.current().held() ? 0 : 1;  // held() reads the clock
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
