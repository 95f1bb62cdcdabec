// Preloaded into the simulator: another host name, another process number, and memory whose
// addresses come in another order. What a schedule does must not depend on them.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {

void* __libc_malloc(size_t);
void __libc_free(void*);

// One of up to four places. xorshift64 (Marsaglia, 2003).
[[gnu::visibility("default")]] void* malloc(size_t size) noexcept {
  thread_local unsigned long state = 88172645463325252UL;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  void* places[4];
  const unsigned long chosen = state % 4;
  for (unsigned long i = 0; i <= chosen; ++i) places[i] = __libc_malloc(size);
  for (unsigned long i = 0; i < chosen; ++i) __libc_free(places[i]);
  return places[chosen];
}

[[gnu::visibility("default")]] int gethostname(char* name, size_t size) noexcept {
  strncpy(name, "another-machine-with-a-longer-name", size);
  return 0;
}

[[gnu::visibility("default")]] pid_t getpid() noexcept { return 12; }
}
