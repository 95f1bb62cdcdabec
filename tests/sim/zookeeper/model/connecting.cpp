// How a client is greeted: an administrator's word, a session made or attached.
#include <algorithm>

#include "tests/sim/zookeeper/model/ensemble.hpp"
#include "tests/sim/zookeeper/model/replica.hpp"

namespace holdfast::sim::zk {

namespace {

constexpr std::string_view mode_word = "srvr";
constexpr std::size_t password_bytes = 16;

// As the real one's it is a function of the session alone.
std::string password_of(std::int64_t session) {
  dice drawn(static_cast<std::uint64_t>(session));
  std::string out;
  while (out.size() < password_bytes) out += static_cast<char>(drawn.next());
  return out;
}

}  // namespace

bool replica::answer_word(connection& c) {
  if (!c.in.starts_with(mode_word)) return false;
  c.out += all_.mode_text(*this);
  close(c);
  return true;
}

void replica::on_connect_request(connection& c, std::span<const std::byte> frame) {
  zookeeper::jute_reader r(frame);
  (void)r.read_int();
  const std::int64_t last_seen = r.read_long();
  const std::int32_t timeout_ms = r.read_int();
  const std::int64_t session = r.read_long();
  const std::string password(r.read_text());
  const bool is_good = r.is_good();
  c.shows_read_only = !r.is_at_end();
  const bool accepts_read_only = c.shows_read_only && r.read_bool();
  if (!is_good || last_seen > state.last_zxid()) return close(c);
  c.timeout_ms = std::clamp(timeout_ms, timeout_min_ms, timeout_max_ms);
  if (is == role::looking)
    return accepts_read_only ? attach_read_only(c, session, password) : close(c);
  c.is = connection::fixture::attaching;
  const origin from{id, c.number, boot};
  if (session == 0) {
    constexpr int id_shift = 56;
    const std::int64_t made = (static_cast<std::int64_t>(id) << id_shift) + all_.next_session();
    return all_.submit(*this, {from, made, op::create_session, {}, {}, c.timeout_ms});
  }
  for (auto& [number, other] : connections_)
    if (other.session == session && number != c.number) close(other);
  c.session = session;
  if (password != password_of(session)) return answer_connect(c, false);
  all_.revalidate(*this, from, session, c.timeout_ms);
}

// It reports only the sessions that it knows: it asks no other server.
void replica::attach_read_only(connection& c, std::int64_t session, std::string_view password) {
  if (!all_.serves_reads(*this)) return close(c);
  if (session != 0 && (!state.sessions().contains(session) || password != password_of(session)))
    return close(c);
  c.is = connection::fixture::attaching;
  c.is_read_only = true;
  c.session = session != 0 ? session : all_.next_session();
  answer_connect(c, true);
}

void replica::on_revalidated(const origin& to, bool is_good) {
  connection* const c = to.boot == boot ? find(to.connection) : nullptr;
  if (c && c->is == connection::fixture::attaching) answer_connect(*c, is_good);
}

void replica::attach(connection& c, std::int64_t session) {
  if (c.is != connection::fixture::attaching) return;
  c.session = session;
  answer_connect(c, true);
}

void replica::answer_connect(connection& c, bool is_good) {
  const std::string password = is_good ? password_of(c.session) : std::string(password_bytes, '\0');
  zookeeper::append_frame(c.out, [&](std::string& to) {
    zookeeper::jute_writer w(to);
    w.write_int(0).write_int(is_good ? c.timeout_ms : 0).write_long(is_good ? c.session : 0);
    w.write_text(password);
    if (c.shows_read_only) w.write_bool(c.is_read_only);
  });
  all_.note_output(c.number);
  if (!is_good) {
    c.session = 0;
    return close(c);
  }
  c.is = connection::fixture::attached;
  all_.read_on_later(c.number);
}

}  // namespace holdfast::sim::zk
