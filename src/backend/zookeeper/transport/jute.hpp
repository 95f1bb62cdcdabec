// Jute: how ZooKeeper writes its records. All numbers are big-endian; strings and buffers have
// their length before them (-1: null), vectors their count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

// Reads what a server sent. Whatever is not there reads as zero or empty; after that, and after a
// length that cannot be true, is_good() is false for good. Texts are views of the bytes.
class jute_reader {
 public:
  explicit jute_reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  std::int32_t read_int() noexcept;
  std::int64_t read_long() noexcept;
  bool read_bool() noexcept;
  std::string_view read_text() noexcept;  // or a buffer; null reads as empty
  // The count of a vector whose items have at least `item_min` bytes each: what follows it has room
  // for that many elements. Null reads as 0.
  std::size_t read_count(std::size_t item_min) noexcept;
  void skip(std::size_t bytes) noexcept { (void)take(bytes); }

  bool is_good() const noexcept { return is_good_; }
  bool is_at_end() const noexcept { return rest_.empty(); }
  std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> take(std::size_t) noexcept;

  std::span<const std::byte> rest_;
  bool is_good_ = true;
};

// Appends to a string.
class jute_writer {
 public:
  explicit jute_writer(std::string& out) noexcept : out_(out) {}

  jute_writer& write_int(std::int32_t);
  jute_writer& write_long(std::int64_t);
  jute_writer& write_bool(bool);
  jute_writer& write_text(std::string_view);  // or a buffer

 private:
  std::string& out_;
};

// The length that stands before each frame is not counted in it.
inline constexpr std::size_t frame_head = 4;

// Appends a frame: its length, and what `write` appends.
template <class Write>
void append_frame(std::string& out, Write write) {
  const std::size_t begin = out.size();
  out.append(frame_head, '\0');
  write(out);
  std::string length;
  jute_writer(length).write_int(static_cast<std::int32_t>(out.size() - begin - frame_head));
  out.replace(begin, frame_head, length);
}

// Puts the pieces that come over a connection together to frames.
class frame_reader {
 public:
  // The largest frame that a server may send. It bounds only what it receives (jute.maxbuffer, by
  // default 1 MiB less a byte), so that a list of many children may be longer.
  static constexpr std::size_t frame_max = 64u << 20;

  explicit frame_reader(std::size_t limit = frame_max) noexcept : most_(limit) {}

  // Calls on_frame(span) for each frame that is complete, until it returns false. False: a length
  // that no frame has came; nothing is read any more.
  template <class OnFrame>
  bool feed(std::span<const std::byte> bytes, OnFrame on_frame) {
    while (is_good_) {
      const std::span<const std::byte> frame = next(bytes);
      if (!has_frame_) break;
      if (!on_frame(frame)) break;
    }
    return is_good_;
  }

 private:
  std::span<const std::byte> next(std::span<const std::byte>& bytes);
  std::size_t length_of(std::span<const std::byte> head) noexcept;

  std::size_t most_;
  std::string pending_;  // of the frame that has begun, with its length
  std::size_t used_ = 0;
  bool has_frame_ = false;
  bool is_good_ = true;
};

}  // namespace holdfast::zookeeper
