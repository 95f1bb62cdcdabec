#include "backend/file/directory_floor.hpp"

#include <errno.h>
#include <unistd.h>

#include <array>

#include "backend/file/flocked_file.hpp"
#include "backend/file/naming.hpp"
#include "backend/file/record.hpp"
#include "backend/file/repeated_calls.hpp"

namespace holdfast::file {
namespace {

constexpr int floor_readings_max = 100;  // it is read while another process may be writing it

std::optional<std::int64_t> read_from(int fd) noexcept {
  std::array<char, record_bytes> text;
  for (int i = 0; i < floor_readings_max; ++i) {
    const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
    if (n < 0) return {};
    if (n == 0) return 0;  // created, and never written
    const auto found = parse_record(std::span(text.data(), static_cast<std::size_t>(n)));
    if (found && found->name == std::string_view(floor_file)) return found->number;
  }
  errno = 0;
  return {};
}

}  // namespace

std::optional<std::int64_t> directory_floor::read() const {
  const descriptor fd = place_.open_existing(floor_file);
  if (fd) return read_from(fd.get());
  return errno == ENOENT ? std::optional<std::int64_t>(0) : std::nullopt;
}

bool directory_floor::raise(std::int64_t number, std::string_view host,
                            std::chrono::microseconds wall) {
  flocked_file file(place_.open_or_create(floor_file));
  if (!file || !file.try_exclusive() || !file.is_named(place_, floor_file)) return false;
  const auto before = read_from(file.get());
  if (!before) return false;
  if (*before >= number) return true;
  record_text text;
  text.describe(floor_file, host, {}, ::getpid(), 0);
  text.stamp(number, wall);
  const auto bytes = text.bytes();
  const ssize_t n =
      repeat_interrupted([&] { return ::pwrite(file.get(), bytes.data(), bytes.size(), 0); });
  return n == static_cast<ssize_t>(bytes.size());
}

}  // namespace holdfast::file
