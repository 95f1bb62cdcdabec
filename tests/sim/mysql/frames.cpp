#include "tests/sim/mysql/frames.hpp"

#include <charconv>

namespace holdfast::sim {

namespace {

constexpr std::size_t head = 4;

std::size_t length_at(std::string_view bytes) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < head; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

// Fields of a reply: numbers and texts, each with its length; {} is NULL.
class field_writer {
 public:
  void add(const std::optional<std::string>& field) {
    out += field ? std::to_string(field->size()) + ':' + *field : "-:";
  }
  void add(std::uint64_t n) { add(std::to_string(n)); }
  std::string out;
};

class field_reader {
 public:
  explicit field_reader(std::string_view bytes) : left_(bytes) {}
  std::optional<std::string> text() {
    const std::size_t colon = left_.find(':');
    const bool is_null = left_.starts_with('-');
    std::size_t length = 0;
    if (!is_null) std::from_chars(left_.data(), left_.data() + colon, length);
    std::string out(left_.substr(colon + 1, length));
    left_.remove_prefix(colon + 1 + length);
    return is_null ? std::nullopt : std::optional(std::move(out));
  }
  std::uint64_t number() { return std::stoull(*text()); }

 private:
  std::string_view left_;
};

}  // namespace

std::string frame_of(std::string_view content) {
  std::string out;
  for (std::size_t shift = head * 8; shift > 0; shift -= 8)
    out += static_cast<char>(content.size() >> (shift - 8) & 0xff);
  return out.append(content);
}

std::optional<std::string> frame_reader::next() {
  if (bytes_.size() < head) return std::nullopt;
  const std::size_t length = length_at(bytes_);
  if (bytes_.size() < head + length) return std::nullopt;
  std::string out = bytes_.substr(head, length);
  bytes_.erase(0, head + length);
  return out;
}

std::string content_of(const model_reply& r) {
  field_writer w;
  w.add(r.error);
  w.add(r.affected);
  w.add(r.insert_id);
  w.add(r.rows.size());
  for (const sql_row_seen& row : r.rows) {
    w.add(row.size());
    for (const auto& cell : row) w.add(cell);
  }
  return w.out;
}

mysql::sql_reply read_reply(std::string_view content) {
  field_reader r(content);
  mysql::sql_reply out;
  out.error = static_cast<unsigned>(r.number());
  if (out.error != 0) out.text = "error " + std::to_string(out.error);
  out.affected = r.number();
  out.insert_id = r.number();
  out.rows.resize(r.number());
  for (mysql::sql_row& row : out.rows) {
    row.resize(r.number());
    for (auto& cell : row) cell = r.text();
  }
  return out;
}

bool is_error(std::string_view frames) {
  return frames.size() > head && !frames.substr(head).starts_with("1:0");
}

}  // namespace holdfast::sim
