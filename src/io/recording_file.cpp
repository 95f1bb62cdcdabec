#include "io/recording_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "io/recording_folder.hpp"

namespace holdfast::io {
namespace {

using base::recording_header;

class mapped_recording final : public base::recording {
 public:
  mapped_recording(std::span<std::byte> memory, const recording_header& header)
      : recording(memory, header, base::recorded_events_default), memory_(memory) {}
  ~mapped_recording() override {
    mark_closed();
    ::munmap(memory_.data(), memory_.size());
  }

 private:
  const std::span<std::byte> memory_;
};

std::int64_t now_of(clockid_t clock) noexcept {
  timespec t;
  ::clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

// The beginning of a small file of the kernel; empty when it cannot be read.
std::string read_beginning(const char* path) {
  char text[512];
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

template <std::size_t N>
void copy(std::array<char, N>& to, std::string_view text) {
  text = text.substr(0, std::min(text.find('\n'), N - 1));
  std::copy(text.begin(), text.end(), to.begin());
}

// Of /proc/self/stat: "PID (NAME) STATE ..."; the name may have parentheses.
void describe_process(recording_header& header) {
  const std::string stat = read_beginning("/proc/self/stat");
  const auto first = stat.find('('), last = stat.rfind(')');
  if (first == stat.npos || last == stat.npos || last < first) return;
  copy(header.program, std::string_view(stat).substr(first + 1, last - first - 1));
  std::size_t at = last + 1;
  for (int field = 3; field < 22 && at != stat.npos; ++field) at = stat.find(' ', at + 1);
  if (at != stat.npos)
    std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), header.process_start);
}

recording_header header_for(const base::recording_terms& terms) {
  recording_header header;
  header.clock = terms.is_coarse ? base::recorded_clock::coarse : base::recorded_clock::boottime;
  header.pid = ::getpid();
  describe_process(header);
  struct stat st;
  if (::stat("/proc/self/ns/pid", &st) == 0) header.pid_namespace = st.st_ino;
  header.opened = now_of(CLOCK_BOOTTIME);
  header.opened_wall = now_of(CLOCK_REALTIME);
  header.opened_coarse = now_of(CLOCK_MONOTONIC);
  copy(header.boot, read_beginning("/proc/sys/kernel/random/boot_id"));
  copy(header.store, terms.store);
  return header;
}

}  // namespace

std::unique_ptr<base::recording> make_recording_file(const base::recording_terms& terms,
                                                     base::failure& why) {
  const auto folder = recording_folder::of_this_user(why);
  if (!folder) return nullptr;
  const std::size_t size = base::recording::bytes_for(base::recorded_events_default);
  const int fd = folder->create(size, why);
  if (fd < 0) return nullptr;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (memory == MAP_FAILED) {
    why = {errc::unavailable, "cannot map a file: " + std::generic_category().message(error)};
    return nullptr;
  }
  return std::make_unique<mapped_recording>(std::span(static_cast<std::byte*>(memory), size),
                                            header_for(terms));
}

}  // namespace holdfast::io
