// Whatever a server sends is read as frames and replies or refused; in pieces as in one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "backend/zookeeper/transport/replies.hpp"

namespace {

namespace zk = holdfast::zookeeper;

void require(bool fact) {
  if (!fact) std::abort();
}

void append(std::string& out, const zk::node_stat& s) {
  for (const auto n : {s.czxid, s.pzxid}) out += std::to_string(n) + ' ';
  out += std::to_string(s.children) + ' ';
}

// Each frame as every reply that it may be.
void append(std::string& out, std::span<const std::byte> frame) {
  if (const auto c = zk::read_connect_response(frame)) {
    out += "connected ";
    out += c->password;
    require(c->is_expired() || c->password.size() == 16);
  }
  const auto r = zk::read_reply(frame);
  if (!r) return;
  out += std::to_string(r->head.xid) + ' ';
  if (const auto e = zk::read_watch_event(r->body)) out += e->path;
  if (const auto s = zk::read_stat(r->body)) append(out, *s);
  if (const auto d = zk::read_data(r->body)) out += d->data;
  if (const auto n = zk::read_created(r->body)) append(out, n->stat);
  if (const auto c = zk::read_children(r->body))
    for (const auto name : c->names) out += name;
  if (const auto m = zk::read_multi(r->body)) {
    out += std::to_string(static_cast<int>(m->code));
    for (const auto path : m->created) out += path;
  }
}

std::string read(std::span<const std::byte> bytes, std::size_t piece) {
  zk::frame_reader reader(1u << 20);
  std::string out;
  bool works = true;
  while (works && !bytes.empty()) {
    const auto now = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(now.size());
    works = reader.feed(now, [&](std::span<const std::byte> frame) {
      append(out, frame);
      return true;
    });
  }
  return out + (works ? "" : "refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string all = read(bytes, size);
  for (const std::size_t piece : {1, 7}) require(read(bytes, piece) == all);
  return 0;
}
