// Whatever a server sends is read as replies or refused; in pieces as in one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "backend/redis/transport/resp.hpp"

namespace {

using holdfast::redis::reply_reader;
using holdfast::redis::value;

void require(bool fact) {
  if (!fact) std::abort();
}

void append(std::string& out, const value& v) {
  out += static_cast<char>('0' + static_cast<int>(v.what()));
  out += std::to_string(v.integer());
  out += '"';
  out += v.text();
  out += v.is_error("NOSCRIPT") ? "!" : "";
  for (std::size_t i = 0; i < v.size(); ++i) append(out, v[i]);
  require(v[v.size()].is(value::kind::nil));
}

// All that was read, and whether the reader refused to go on.
std::string read(std::span<const std::byte> bytes, std::size_t piece) {
  reply_reader reader;
  std::string out;
  bool works = true;
  while (works && !bytes.empty()) {
    const auto now = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(now.size());
    works = reader.feed(now);
    works = reader.for_each([&](const value& v) {
      append(out, v);
      return true;
    }) && works;
  }
  require(works == reader.fault().empty());
  return out + (works ? "" : "refused");
}

// The same when no reply is taken before all bytes are there.
std::string read_late(std::span<const std::byte> bytes, std::size_t piece) {
  reply_reader reader;
  std::string looked_at, out;
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(now.size());
    reader.feed(now);
    reader.for_each([](const value&) { return false; });
    reader.look_ahead([&](const value& v) {
      append(looked_at, v);
      return true;
    });
  }
  std::size_t first = 0;
  const bool works = reader.for_each([&](const value& v) {
    append(out, v);
    first = first ? first : out.size();
    return true;
  });
  require(out.substr(first) == looked_at);
  return out + (works ? "" : "refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string all = read(bytes, size);
  for (const std::size_t piece : {1, 7}) {
    require(read(bytes, piece) == all);
    require(read_late(bytes, piece) == all);
  }
  return 0;
}
