// A leader: orders the writes, has them agreed on, and ends sessions.
#include <algorithm>
#include <utility>

#include "tests/sim/zookeeper/model/ensemble.hpp"
#include "tests/sim/zookeeper/model/leadership.hpp"

namespace holdfast::sim::zk {

using namespace std::chrono_literals;
using verdict = session_tracker::verdict;

namespace {

constexpr std::int64_t strangers_session = 1;  // which never ends

}  // namespace

void ensemble::touch(replica& r, std::int64_t session, std::int32_t timeout_ms) {
  if (r.leads) {
    r.leads->sessions.touch(session, timeout_ms, host_.now());
  } else {
    r.touched[session] = timeout_ms;
  }
}

// At a follower nobody knows.
session_tracker::verdict ensemble::check(const replica& r, std::int64_t session) const {
  return r.leads ? r.leads->sessions.check(session, r.id) : verdict::good;
}

void ensemble::submit(replica& r, const write_request& w) {
  if (r.leads) return propose(r, w);
  send(r.id, r.leader, [this, leader = r.leader, w] { propose(of(leader), w); });
}

void ensemble::propose(replica& leader, const write_request& w) {
  leadership& l = *leader.leads;
  const bool is_of_session =
      w.from.server != 0 && w.type != op::create_session && w.type != op::close_session;
  const verdict v = is_of_session ? l.sessions.check(w.session, w.from.server) : verdict::good;
  const auto time_ms =
      std::chrono::floor<std::chrono::milliseconds>(host_.now()).count() + 1'700'000'000'000;
  ++l.last_zxid;
  if (v != verdict::good) {
    transaction t;
    t.zxid = l.last_zxid;
    t.type = w.type;
    t.session = w.session;
    t.code = v == verdict::moved ? error::session_moved : error::session_expired;
    t.from = w.from;
    return log(leader, std::move(t));
  }
  if (w.type == op::create_session) {
    l.sessions.track(w.session, w.timeout_ms, host_.now());
    l.sessions.set_owner(w.session, w.from.server);
  }
  if (w.type == op::close_session) l.sessions.set_closing(w.session);
  log(leader, prepare(l.outstanding, w, l.last_zxid, time_ms));
}

void ensemble::log(replica& leader, transaction t) {
  leadership& l = *leader.leads;
  const std::size_t place = leader.log.size();
  l.acks[place] = {leader.id};
  leader.log.push_back(std::move(t));
  for (const auto& [id, heard] : l.followers)
    send(leader.id, id, [this, &leader, f = id, place] {
      replica& follower = of(f);
      follower.log.push_back(leader.log[place]);
      send(f, leader.id, [this, &leader, f, place] {
        const auto found = leader.leads->acks.find(place);
        if (found == leader.leads->acks.end()) return;
        if (votes(of(f))) found->second.insert(f);
        advance(leader);
      });
    });
  advance(leader);
}

// Applies what a quorum has, in order.
void ensemble::advance(replica& leader) {
  leadership& l = *leader.leads;
  while (!l.acks.empty() && l.acks.begin()->second.size() >= quorum()) {
    l.acks.erase(l.acks.begin());
    const transaction& t = leader.log[leader.applied];
    if (t.type == op::close_session) l.sessions.remove(t.session);
    leader.apply_next();
    agree(leader);
    for (const auto& [id, heard] : l.followers)
      send(leader.id, id, [this, f = id, count = leader.applied] {
        while (of(f).applied < count) of(f).apply_next();
      });
    while (!l.syncs.empty() && l.syncs.front().first <= leader.applied) {
      answer_sync(leader, l.syncs.front().second, verdict::good);
      l.syncs.erase(l.syncs.begin());
    }
  }
}

void ensemble::agree(const replica& leader) {
  for (; agreed_count_ < leader.applied; ++agreed_count_)
    agreed_.apply(leader.log[agreed_count_], nullptr);
}

// Not a word with any other server: a leader that is alone answers it too.
void ensemble::sync(replica& r, const origin& from, std::int64_t session) {
  const auto at_leader = [this, from, session](replica& leader) {
    const verdict v = leader.leads->sessions.check(session, from.server);
    if (v != verdict::good || leader.leads->acks.empty()) return answer_sync(leader, from, v);
    leader.leads->syncs.emplace_back(leader.log.size(), from);
  };
  if (r.leads) return at_leader(r);
  send(r.id, r.leader, [this, leader = r.leader, at_leader] { at_leader(of(leader)); });
}

void ensemble::answer_sync(replica& leader, const origin& to, verdict v) {
  if (to.server == leader.id) return leader.on_synced(to, v);
  send(leader.id, to.server, [this, to, v] { of(to.server).on_synced(to, v); });
}

void ensemble::revalidate(replica& r, const origin& from, std::int64_t session,
                          std::int32_t timeout_ms) {
  const auto at_leader = [this, from, session, timeout_ms](replica& leader) {
    session_tracker& all = leader.leads->sessions;
    const bool is_good = all.touch(session, timeout_ms, host_.now());
    if (is_good) all.set_owner(session, from.server);
    return is_good;
  };
  if (r.leads) return r.on_revalidated(from, at_leader(r));
  send(r.id, r.leader, [this, from, leader = r.leader, at_leader] {
    const bool is_good = at_leader(of(leader));
    send(leader, from.server,
         [this, from, is_good] { of(from.server).on_revalidated(from, is_good); });
  });
}

void ensemble::on_bucket(replica& leader) {
  close_expired(leader, leader.leads->sessions.take_bucket());
}

// One after the other: until its turn comes a session is as good as any.
void ensemble::close_expired(replica& leader, std::vector<std::int64_t> sessions) {
  session_tracker& all = leader.leads->sessions;
  if (sessions.empty())
    return at_term(leader.id, std::max(host_.now(), all.next_bucket()),
                   [this, &leader] { on_bucket(leader); });
  const moment most = host_.now() < slow_until_ ? slow_gap_ : moment(200us);
  at_term(leader.id, host_.now() + host_.chance().between(moment(0), most),
          [this, &leader, rest = std::move(sessions)]() mutable {
            const std::int64_t next = rest.front();
            rest.erase(rest.begin());
            if (leader.leads->sessions.check(next, 0) != verdict::expired) {
              leader.leads->sessions.set_closing(next);
              write_request w;
              w.session = next;
              w.type = op::close_session;
              propose(leader, w);
            }
            close_expired(leader, std::move(rest));
          });
}

void ensemble::reap_containers(replica& leader) {
  std::vector<std::string> all;
  for (const auto& [path, n] : leader.state.nodes())
    if (n.is_container && n.children.empty() && n.stat.cversion > 0) all.push_back(path);
  for (const std::string& path : all) {
    write_request w;
    w.type = op::delete_container;
    w.body = path;
    propose(leader, w);
  }
  at_term(leader.id, host_.now() + options_.container_check,
          [this, &leader] { reap_containers(leader); });
}

const tree* ensemble::proposed() const {
  const int id = leader();
  return id == 0 ? nullptr : &at(id).leads->outstanding;
}

void ensemble::write_as_stranger(op type, std::string body) {
  const int id = leader();
  if (id == 0 || of(id).is_stopped) return;
  write_request w;
  w.session = strangers_session;
  w.type = type;
  w.body = std::move(body);
  propose(of(id), w);
  flush();
}

void ensemble::create_as_stranger(const std::string& path, std::string_view data,
                                  std::int32_t flags) {
  constexpr std::int32_t all_rights = 31;
  std::string body;
  zookeeper::jute_writer w(body);
  w.write_text(path).write_text(data).write_int(1).write_int(all_rights);
  w.write_text("world").write_text("anyone").write_int(flags);
  write_as_stranger(op::create, std::move(body));
}

void ensemble::create_sequential(const std::string& path) {
  constexpr std::int32_t sequential = 2;
  create_as_stranger(path, "", sequential);
}

void ensemble::create_ephemeral(const std::string& path, std::string_view data) {
  constexpr std::int32_t ephemeral = 1;
  create_as_stranger(path, data, ephemeral);
}

void ensemble::remove(const std::string& path) {
  std::string body;
  zookeeper::jute_writer(body).write_text(path).write_int(-1);
  write_as_stranger(op::remove, std::move(body));
}

void ensemble::set_data(const std::string& path, std::string_view data) {
  std::string body;
  zookeeper::jute_writer(body).write_text(path).write_text(data).write_int(-1);
  write_as_stranger(op::set_data, std::move(body));
}

void ensemble::close_buckets_slowly(moment until, moment most) {
  slow_until_ = until;
  slow_gap_ = most;
}

void ensemble::bound_timeouts(int server, std::int32_t min_ms, std::int32_t max_ms) {
  of(server).timeout_min_ms = min_ms;
  of(server).timeout_max_ms = max_ms;
}

void ensemble::set_created(const std::string& path, std::int32_t children) {
  for (const auto& r : replicas_) {
    if (node* const n = r->state.find(path)) n->stat.cversion = children;
    if (node* const n = r->leads ? r->leads->outstanding.find(path) : nullptr)
      n->stat.cversion = children;
  }
  if (node* const n = agreed_.find(path)) n->stat.cversion = children;
}

}  // namespace holdfast::sim::zk
