#include "io/random.hpp"

#include <errno.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/mutant.hpp"
#include "io/fork_mark.hpp"

namespace holdfast::io {
namespace {

void read_kernel(std::byte* out, std::size_t size) noexcept {
  while (size != 0) {
    const ssize_t n = ::getrandom(out, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      std::fputs("holdfast: the kernel gives no random numbers (getrandom failed)\n", stderr);
      std::abort();
    }
    out += n;
    size -= static_cast<std::size_t>(n);
  }
}

struct pool {
  static constexpr std::size_t size = 4096;
  std::byte bytes[size] = {};
  std::size_t left = 0;  // the unused ones are at the end
  std::uint32_t mark = 0;
};
thread_local constinit pool mine;

}  // namespace

void fill_random(std::span<std::byte> out) noexcept {
  const std::uint32_t mark = fork_mark();
  if (mark == 0 || out.size() > pool::size / 4) return read_kernel(out.data(), out.size());
  const bool is_own = mine.mark == mark || base::planted(base::mutant::child_draws_as_its_parent);
  if (!is_own || mine.left < out.size()) {
    read_kernel(mine.bytes, pool::size);
    mine.left = pool::size;
    mine.mark = mark;
  }
  std::byte* from = mine.bytes + (pool::size - mine.left);
  std::memcpy(out.data(), from, out.size());
  std::memset(from, 0, out.size());
  mine.left -= out.size();
}

}  // namespace holdfast::io
