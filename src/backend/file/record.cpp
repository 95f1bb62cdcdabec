#include "backend/file/record.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "base/number.hpp"

namespace holdfast::file {
namespace {

constexpr std::string_view magic = "holdfast lock 1\n";
constexpr std::size_t key_bytes = 8;

// A line of a key and a value of fixed width, and its offset.
struct field {
  std::string_view key;
  std::size_t at;
  std::size_t width;
  constexpr std::size_t value() const noexcept { return at + key_bytes; }
  constexpr std::size_t end() const noexcept { return value() + width + 1; }
};
constexpr field number_field{"number  ", magic.size(), 16};
constexpr field since_field{"since   ", number_field.end(), 16};
constexpr field pid_field{"pid     ", since_field.end(), 10};
constexpr field client_field{"client  ", pid_field.end(), 16};
constexpr field check_field{"check   ", client_field.end(), 16};
constexpr std::size_t texts_at = check_field.end();
constexpr std::size_t kind_bytes_max = std::string_view("1000000 of 1000000").size();
static_assert(texts_at + 4 * (key_bytes + 1) + 512 + host_bytes_max + 256 + kind_bytes_max <
              record_bytes);

static_assert(number_field.width == 16 && since_field.width == 16);

constexpr std::int64_t pid_max = 9'999'999'999;

void put_digits(char* out, std::size_t width, std::uint64_t value) noexcept {
  for (std::size_t i = width; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

// Two independent halves, for speed: this runs at every grant.
void put_16_digits(char* out, std::int64_t value) noexcept {
  constexpr std::uint64_t half = 100'000'000;
  auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) / half);
  auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) % half);
  for (std::size_t i = 8; i-- > 0; high /= 10, low /= 10) {
    out[i] = static_cast<char>('0' + high % 10);
    out[i + 8] = static_cast<char>('0' + low % 10);
  }
}

void put_hex(char* out, std::uint64_t value) noexcept {
  for (std::size_t i = 16; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
}

std::optional<std::int64_t> digits(const char* text, std::size_t width) noexcept {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return {};
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::optional<std::uint64_t> hex(const char* text) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const char c = text[i];
    const bool letter = c >= 'a' && c <= 'f';
    if (!letter && (c < '0' || c > '9')) return {};
    value = value << 4 | static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
  }
  return value;
}

// Covers everything before the check. No protection against malice: a writer of the file can lie.
std::uint64_t check_of(const char* text) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto mix = [&](const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    word = le64toh(word);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  std::size_t at = 0;
  for (; at + 8 <= check_field.at; at += 8) mix(text + at, 8);
  if constexpr (check_field.at % 8 != 0) mix(text + at, check_field.at % 8);
  return hash;
}

bool control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool has_frame(const char* text, const field& f) noexcept {
  return std::memcmp(text + f.at, f.key.data(), key_bytes) == 0 && text[f.end() - 1] == '\n';
}

// The value of the line `key` at the start of `remaining`; removes that line.
std::optional<std::string_view> take_line(std::string_view& remaining, std::string_view key,
                                          std::size_t bytes_max) noexcept {
  const std::size_t end = remaining.find('\n');
  if (end == remaining.npos || !remaining.starts_with(key)) return {};
  const std::string_view value = remaining.substr(key_bytes, end - key_bytes);
  if (value.size() > bytes_max || std::any_of(value.begin(), value.end(), control)) return {};
  remaining.remove_prefix(end + 1);
  return value;
}

std::optional<std::uint32_t> count_of(std::string_view text) noexcept {
  const auto value = base::whole_number<std::uint32_t>(text);
  if (!value || *value < 1 || *value > permits_max) return {};
  return value;
}

std::optional<kind> parse_kind(std::string_view text) noexcept {
  if (text == "shared") return kind{.mode = lock_mode::shared};
  constexpr std::string_view between = " of ";
  const std::size_t at = text.find(between);
  if (at == text.npos) return {};
  const auto permits = count_of(text.substr(0, at));
  const auto of = count_of(text.substr(at + between.size()));
  if (!permits || !of || *permits > *of) return {};
  return kind{lock_mode::permit, *permits, *of};
}

char* put_kind(char* at, const kind& as) noexcept {
  const auto put = [&at](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
  put("as      ");
  if (as.mode == lock_mode::shared) {
    put("shared");
  } else {
    at = std::to_chars(at, at + kind_bytes_max, std::min(as.permits, permits_max)).ptr;
    put(" of ");
    at = std::to_chars(at, at + kind_bytes_max, std::min(as.of, permits_max)).ptr;
  }
  *at++ = '\n';
  return at;
}

}  // namespace

std::optional<record> parse_record(std::span<const char> text) noexcept {
  if (text.size() != record_bytes) return {};
  const char* const t = text.data();
  if (std::memcmp(t, magic.data(), magic.size()) != 0) return {};
  for (const field& f : {number_field, since_field, pid_field, client_field, check_field})
    if (!has_frame(t, f)) return {};
  const auto number = digits(t + number_field.value(), number_field.width);
  const auto since = digits(t + since_field.value(), since_field.width);
  const auto pid = digits(t + pid_field.value(), pid_field.width);
  const auto client = hex(t + client_field.value());
  const auto check = hex(t + check_field.value());
  if (!number || !since || !pid || !client || !check) return {};
  if (*number < 1 || *number > number_max || *check != check_of(t)) return {};

  std::string_view rest(t + texts_at, record_bytes - texts_at);
  const auto name = take_line(rest, "name    ", 512);
  if (!name || name->empty()) return {};
  const auto host = take_line(rest, "host    ", host_bytes_max);
  if (!host) return {};
  const auto note = take_line(rest, "note    ", 256);
  if (!note) return {};
  std::optional<kind> as = kind{};
  const auto shared = take_line(rest, "as      ", kind_bytes_max);
  if (shared) as = parse_kind(*shared);
  if (!as || rest.empty() || rest.back() != '\n') return {};
  if (rest.find_first_not_of(' ') != rest.size() - 1) return {};
  return record{*number, std::chrono::microseconds{*since}, *pid, *client, *name, *host, *note,
                *as};
}

void record_text::describe(std::string_view name, std::string_view host, std::string_view note,
                           std::int64_t pid, std::uint64_t client, const kind& as) noexcept {
  char* const t = bytes_.data();
  std::memset(t, ' ', record_bytes);
  t[record_bytes - 1] = '\n';
  std::memcpy(t, magic.data(), magic.size());
  for (const field& f : {number_field, since_field, pid_field, client_field, check_field}) {
    std::memcpy(t + f.at, f.key.data(), key_bytes);
    t[f.end() - 1] = '\n';
  }
  put_digits(t + pid_field.value(), pid_field.width,
             static_cast<std::uint64_t>(std::clamp<std::int64_t>(pid, 0, pid_max)));
  put_hex(t + client_field.value(), client);

  char* at = t + texts_at;
  const auto put_line = [&at](std::string_view key, std::string_view value, std::size_t limit) {
    at = std::copy(key.begin(), key.end(), at);
    for (const char c : value.substr(0, limit)) *at++ = control(c) ? '?' : c;
    *at++ = '\n';
  };
  put_line("name    ", name, 512);
  put_line("host    ", host, host_bytes_max);
  put_line("note    ", note, 256);
  if (as.mode != lock_mode::exclusive) put_kind(at, as);
  as_ = as;
}

void record_text::stamp(std::int64_t number, std::chrono::microseconds since) noexcept {
  number_ = number;
  char* const t = bytes_.data();
  const std::int64_t time = std::clamp<std::int64_t>(since.count(), 0, number_max);
  put_16_digits(t + number_field.value(), number);
  if (time == number) {  // as long as the clock is not set back
    std::memcpy(t + since_field.value(), t + number_field.value(), since_field.width);
  } else {
    put_16_digits(t + since_field.value(), time);
  }
  put_hex(t + check_field.value(), check_of(t));
}

bool record_text::same_as(std::span<const char> other) const noexcept {
  return other.size() == record_bytes &&
         std::memcmp(bytes_.data(), other.data(), record_bytes) == 0;
}

}  // namespace holdfast::file
