#include "tests/sim/zookeeper/model/replica.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/zookeeper/model/ensemble.hpp"
#include "tests/sim/zookeeper/model/leadership.hpp"

namespace holdfast::sim::zk {

namespace {

constexpr std::size_t frame_max = 0xfffff;

bool is_known(op o) noexcept {
  switch (o) {
    case op::exists:
    case op::get_data:
    case op::get_children:
    case op::get_children2:
    case op::sync:
    case op::ping:
    case op::remove_watches:
    case op::set_watches: return true;
    default: return is_write(o) && o != op::create_session && o != op::delete_container;
  }
}

}  // namespace

replica::replica(int number, ensemble& all)
    : id(number),
      all_(all),
      watches_([this](int to, auto kind, const std::string& path) { tell(to, kind, path); }) {}

replica::~replica() = default;

connection& replica::connect(int number, peer& to) {
  connection& c = connections_[number];
  c.number = number;
  c.server = id;
  c.to = &to;
  return c;
}

connection* replica::find(int number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : &found->second;
}

bool replica::has(std::int64_t session) const {
  return std::ranges::any_of(connections_, [&](const auto& c) {
    return c.second.session == session && c.second.is == connection::fixture::attached;
  });
}

void replica::close(connection& c) {
  if (c.is == connection::fixture::closed) return;
  c.is = connection::fixture::closed;
  c.pending.clear();
  watches_.forget(c.number);
  all_.note_output(c.number);
}

void replica::close_all() {
  for (auto& [number, c] : connections_) close(c);
  touched.clear();
  parked_.clear();
}

// It has found the others again.
void replica::close_read_only() {
  for (auto& [number, c] : connections_)
    if (c.is_read_only) close(c);
}

void replica::disconnect(int number) {
  watches_.forget(number);
  std::erase(parked_, number);
  connections_.erase(number);
}

void replica::receive(int number, std::string_view bytes) {
  connection* const c = find(number);
  if (!c || c->is == connection::fixture::closed) return;
  c->in += bytes;
  read_frames(*c);
}

void replica::read_on(int number) {
  if (connection* const c = find(number)) read_frames(*c);
}

void replica::read_frames(connection& c) {
  using fixture = connection::fixture;
  unpark();
  std::size_t used = 0;
  while (c.is == fixture::fresh || c.is == fixture::attached) {
    const auto rest = std::as_bytes(std::span(c.in)).subspan(used);
    if (rest.size() < zookeeper::frame_head) break;
    if (c.is == fixture::fresh && answer_word(c)) break;
    const std::int32_t length = zookeeper::jute_reader(rest).read_int();
    if (length <= 0 || static_cast<std::size_t>(length) > frame_max) {
      close(c);
      break;
    }
    const std::size_t whole = zookeeper::frame_head + static_cast<std::size_t>(length);
    if (rest.size() < whole) break;
    used += whole;
    const auto frame = rest.subspan(zookeeper::frame_head, whole - zookeeper::frame_head);
    if (c.is == fixture::fresh) {
      on_connect_request(c, frame);
    } else {
      on_frame(c, frame);
    }
  }
  c.in.erase(0, used);
}

void replica::on_frame(connection& c, std::span<const std::byte> frame) {
  zookeeper::jute_reader r(frame);
  request q;
  q.xid = r.read_int();
  q.type = static_cast<op>(r.read_int());
  if (!r.is_good()) return close(c);
  q.body.assign(reinterpret_cast<const char*>(frame.data()) + frame.size() - r.left(), r.left());
  if (q.type == op::auth) return authenticate(c, q);
  if (!c.is_read_only) all_.touch(*this, c.session, c.timeout_ms);
  const origin from{id, c.number, boot};
  if (q.type == op::check) return close(c);  // it belongs into a multi
  if (!is_known(q.type)) {
    write(c, q.xid, -1, error::unimplemented);
    return close(c);
  }
  if (c.is_read_only && (is_write(q.type) || q.type == op::sync))
    return write(c, q.xid, state.last_zxid(), error::not_read_write);
  const op type = q.type;
  const std::string body = is_write(type) ? q.body : std::string();
  c.pending.push_back(std::move(q));
  if (is_write(type)) {
    all_.submit(*this, {from, c.session, type, body, c.identities});
  } else if (type == op::sync) {
    all_.sync(*this, from, c.session);
  }
  run(c);
}

// Up to the first request that others must answer.
void replica::run(connection& c, bool may_park) {
  while (c.is == connection::fixture::attached && !c.pending.empty()) {
    const request& q = c.pending.front();
    if (is_write(q.type) || (q.type == op::sync && c.synced == 0)) return;
    if (may_park && parks(c)) return;
    const auto standing = all_.check(*this, c.session);
    if (standing == session_tracker::verdict::moved) return close(c);
    if (q.type == op::sync) --c.synced;
    if (standing == session_tracker::verdict::expired) {
      write(c, q.xid, state.last_zxid(), error::session_expired);
    } else {
      answer_read(c, q);
    }
    if (c.is == connection::fixture::attached) c.pending.pop_front();
  }
}

// ZOOKEEPER-4537: a quiet follower keeps the last reply until it has something else to do.
bool replica::parks(connection& c) {
  const bool is_last = c.pending.size() == 1 && c.pending.front().type != op::ping;
  if (is != role::following || !is_last || !all_.draws_parked()) return false;
  parked_.push_back(c.number);
  return true;
}

void replica::unpark() {
  for (const int number : std::exchange(parked_, {}))
    if (connection* const c = find(number)) run(*c, false);
}

void replica::apply_next() {
  unpark();
  const transaction t = log[applied++];
  const outcome o = state.apply(t, &watches_);
  if (t.from.server == id && t.from.boot == boot)
    if (connection* const c = find(t.from.connection)) {
      if (t.type == op::create_session) {
        attach(*c, t.session);
      } else {
        answer_write(*c, t, o);
        run(*c);
      }
    }
  if (t.code != error::ok) return;
  if (t.type == op::create_session && is == role::following) touched[t.session] = t.timeout_ms;
  if (t.type != op::close_session) return;
  for (auto& [number, c] : connections_)
    if (c.session == t.session) close(c);
}

void replica::on_synced(const origin& to, session_tracker::verdict v) {
  connection* const c = to.boot == boot ? find(to.connection) : nullptr;
  if (!c || c->is != connection::fixture::attached) return;
  unpark();
  if (v == session_tracker::verdict::moved) return close(*c);
  ++c->synced;
  run(*c);
}

}  // namespace holdfast::sim::zk
