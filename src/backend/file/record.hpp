// The content of a lock file: the number, which only grows, and the last holder. Whether the lock
// is held now is not in it: only the kernel's lock shows that, and it ends with its process.
//
// 1024 bytes of text, readable with cat. They are written in one pwrite, from memory within one
// page into the file's first page: the kernel copies all of it or nothing, whenever the writer is
// killed.
//
//   holdfast lock 1
//   number  1763668888123456      of the last grant, 16 digits
//   since   1763668888123456      microseconds since 1970
//   pid     0000001234
//   client  0123456789abcdef
//   check   0123456789abcdef      of all above, against bit rot and editors
//   name    nightly
//   host    web7
//   note    rebuild the index
//   as      shared                or: 2 of 5 (permits); no such line: exclusive
//   (blanks, and a newline as last byte)
//
// Behind it are the records of the holder bytes (holder_bytes.hpp), in the same form.
#pragma once
#include <holdfast/options.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::file {

inline constexpr std::size_t record_bytes = 1024;
inline constexpr std::size_t host_bytes_max = 64;  // HOST_NAME_MAX of Linux
inline constexpr std::int64_t number_max = (std::int64_t{1} << 53) - 1;

struct kind {  // the mode in which the lock is held
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 0, of = 0;  // of a semaphore: at most permits_max
  bool operator==(const kind&) const noexcept = default;
};
inline constexpr std::uint32_t permits_max = 1'000'000;

struct record {
  std::int64_t number = 0;
  std::chrono::microseconds since{};
  std::int64_t pid = 0;
  std::uint64_t client = 0;
  std::string_view name, host, note;
  kind as;
};

// Trusts nothing: nullopt unless the text is exactly as a writer makes it, with a number of
// 1 .. number_max. The views point into `text`.
std::optional<record> parse_record(std::span<const char> text) noexcept;

// A record as text. The part that is the same for every grant is written once.
class record_text {
 public:
  record_text() noexcept = default;
  // `name` at most 512 bytes, `note` 256; a longer host is cut. Control characters become '?'.
  void describe(std::string_view name, std::string_view host, std::string_view note,
                std::int64_t pid, std::uint64_t client, const kind& = {}) noexcept;
  void stamp(std::int64_t number, std::chrono::microseconds since) noexcept;
  std::span<const char> bytes() const noexcept { return bytes_; }
  std::int64_t number() const noexcept { return number_; }  // as stamped; 0: never
  const kind& as() const noexcept { return as_; }
  bool same_as(std::span<const char> other) const noexcept;  // byte by byte

 private:
  std::int64_t number_ = 0;
  kind as_;
  alignas(record_bytes) std::array<char, record_bytes> bytes_{};
};

}  // namespace holdfast::file
