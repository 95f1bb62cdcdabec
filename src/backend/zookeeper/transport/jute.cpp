#include "backend/zookeeper/transport/jute.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {

namespace {

template <class Number>
Number number_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t n = 0;
  for (const std::byte b : bytes) n = n << 8 | static_cast<std::uint64_t>(b);
  return static_cast<Number>(n);
}

void append_number(std::string& out, std::uint64_t n, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<unsigned char>(n >> shift));
}

const char* chars_of(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

std::span<const std::byte> jute_reader::take(std::size_t bytes) noexcept {
  if (!is_good_ || bytes > rest_.size()) {
    is_good_ = false;
    return {};
  }
  const auto taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

std::int32_t jute_reader::read_int() noexcept { return number_of<std::int32_t>(take(4)); }
std::int64_t jute_reader::read_long() noexcept { return number_of<std::int64_t>(take(8)); }
bool jute_reader::read_bool() noexcept { return number_of<unsigned>(take(1)) != 0; }

std::string_view jute_reader::read_text() noexcept {
  const std::int32_t length = read_int();
  if (length == -1) return {};
  if (length < 0) {
    is_good_ = false;
    return {};
  }
  const auto bytes = take(static_cast<std::size_t>(length));
  return {chars_of(bytes), bytes.size()};
}

std::size_t jute_reader::read_count(std::size_t item_min) noexcept {
  const std::int32_t count = read_int();
  if (count == -1) return 0;
  if (count < 0 || static_cast<std::size_t>(count) > rest_.size() / item_min) {
    is_good_ = false;
    return 0;
  }
  return static_cast<std::size_t>(count);
}

jute_writer& jute_writer::write_int(std::int32_t n) {
  append_number(out_, static_cast<std::uint32_t>(n), 4);
  return *this;
}

jute_writer& jute_writer::write_long(std::int64_t n) {
  append_number(out_, static_cast<std::uint64_t>(n), 8);
  return *this;
}

jute_writer& jute_writer::write_bool(bool b) {
  out_ += b ? '\1' : '\0';
  return *this;
}

jute_writer& jute_writer::write_text(std::string_view text) {
  write_int(static_cast<std::int32_t>(text.size()));
  out_ += text;
  return *this;
}

std::size_t frame_reader::length_of(std::span<const std::byte> head) noexcept {
  const auto length = number_of<std::int32_t>(head);
  if (length < 0 || static_cast<std::size_t>(length) > most_) is_good_ = false;
  return is_good_ ? static_cast<std::size_t>(length) : 0;
}

// A frame that lies in `bytes` as a whole is not copied.
std::span<const std::byte> frame_reader::next(std::span<const std::byte>& bytes) {
  has_frame_ = false;
  if (used_ > 0) pending_.erase(0, std::exchange(used_, 0));
  const auto in_pending = [&](std::size_t wanted) {
    if (pending_.size() < wanted) {
      const auto more = bytes.first(std::min(bytes.size(), wanted - pending_.size()));
      pending_.append(chars_of(more), more.size());
      bytes = bytes.subspan(more.size());
    }
    return pending_.size() >= wanted;
  };
  if (pending_.empty() && bytes.size() >= frame_head) {
    const std::size_t length = length_of(bytes.first(frame_head));
    if (!is_good_) return {};
    if (bytes.size() - frame_head >= length) {
      const auto frame = bytes.subspan(frame_head, length);
      bytes = bytes.subspan(frame_head + length);
      has_frame_ = true;
      return frame;
    }
  }
  if (!in_pending(frame_head)) return {};
  const auto all = [&] { return std::as_bytes(std::span(pending_)); };
  const std::size_t length = length_of(all().first(frame_head));
  if (!is_good_ || !in_pending(frame_head + length)) return {};
  has_frame_ = true;
  used_ = frame_head + length;
  return all().subspan(frame_head, length);
}

}  // namespace holdfast::zookeeper
