// A model of an ensemble of ZooKeeper 3.8.0: one server alone, or several with a leader.
// ../compared/model_test.cpp compares one server with the real one, ensemble_test.cpp three.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/zookeeper/model/host.hpp"
#include "tests/sim/zookeeper/model/replica.hpp"

namespace holdfast::sim::zk {

// Speaks the protocol, bytes in and bytes out. Its servers' messages to each other, their ticks and
// their elections happen at the host's time. Of what one call or one event causes, each connection
// gets all its bytes in one deliver(). One thread at a time; the host outlives it.
class ensemble {
 public:
  ensemble(ensemble_host&, const ensemble_options&);
  ~ensemble();
  ensemble(const ensemble&) = delete;
  ensemble& operator=(const ensemble&) = delete;

  // Servers count from 1.
  bool accepts(int server) const { return !at(server).is_down; }
  int connect(peer&, int server);  // a handle, from 1, never used twice
  void receive(int connection, std::string_view bytes);
  void forget_peer(int connection);  // it hears nothing more, and may be destroyed
  void disconnect(int connection);   // the same; a server that is stopped sees it later
  bool is_connected(int connection) const;
  // It has a session, at a server that belongs to a quorum and hears from its leader.
  bool is_in_service(int connection) const;

  bool is_attached(std::int64_t session) const;  // at any server that runs

  // Troubles.
  void kill(int server);   // seen by those whose links to it are not frozen
  void start(int server);  // with all that it had
  void stop(int server);   // as SIGSTOP; what comes meanwhile is done at resume()
  void resume(int server);
  void freeze(int one, int other, moment until);         // what the two tell each other comes then
  void cut(int one, int other);                          // they part, and may find each other again
  void close_buckets_slowly(moment until, moment most);  // between two sessions of a bucket
  void bound_timeouts(int server, std::int32_t min_ms, std::int32_t max_ms);
  // Removes every transaction after the first ones from all servers, which are down. Their epochs
  // stay.
  void forget_all_after(std::size_t first_ones);
  void thaw();  // no link is frozen any more
  // By another program, which needs no session; nothing where no server leads.
  void create_sequential(const std::string& path);
  void create_ephemeral(const std::string& path, std::string_view data);  // until it is removed
  void remove(const std::string& path);
  void set_data(const std::string& path, std::string_view data);
  void set_created(const std::string& path, std::int32_t children);  // the count of a node's

  // For who watches.
  const tree* proposed() const;  // what the leader has ordered; null: none leads
  const tree& agreed() const noexcept { return agreed_; }  // what a quorum has
  std::size_t agreed_count() const noexcept { return agreed_count_; }
  int servers() const noexcept { return static_cast<int>(replicas_.size()); }
  int leader() const;  // the newest that leads; 0: none
  const replica& at(int server) const { return *replicas_[static_cast<std::size_t>(server - 1)]; }

  // For its servers.
  void touch(replica&, std::int64_t session, std::int32_t timeout_ms);
  void submit(replica&, const write_request&);
  void sync(replica&, const origin&, std::int64_t session);
  void revalidate(replica&, const origin&, std::int64_t session, std::int32_t timeout_ms);
  session_tracker::verdict check(const replica&, std::int64_t session) const;
  std::int64_t next_session() noexcept { return ++sessions_made_; }
  bool draws_parked();
  bool serves_reads(const replica&) const;  // alone
  std::string mode_text(const replica&) const;
  void note_output(int connection);
  void read_on_later(int connection);

 private:
  using deed = std::function<void()>;
  struct link {
    moment arrives{};  // the last message
    moment frozen_until{};
  };

  replica& of(int server) { return *replicas_[static_cast<std::size_t>(server - 1)]; }
  int server_of(int connection) const;
  int voters() const noexcept { return options_.servers - options_.observers; }
  bool votes(const replica& r) const noexcept { return r.id <= voters(); }
  std::size_t quorum() const noexcept { return static_cast<std::size_t>(voters()) / 2 + 1; }

  // ensemble.cpp: what happens when
  void at_server(int server, moment, deed);  // unless it is started anew before
  void at_term(int server, moment, deed);    // nor changes its role
  void run_at(int server, std::uint64_t boot, const deed&, bool is_by_clock = false);
  void send(int from, int to, deed);
  void arrive(int from, int to, std::uint64_t from_term, std::uint64_t to_term, const deed&);
  link& between(int from, int to);
  static bool are_linked(const replica&, const replica&);
  bool can_talk(const replica&, const replica&) const;
  bool is_frozen(int from, int to) const;
  bool leads_a_quorum(const replica&) const;
  void flush();
  void create_as_stranger(const std::string& path, std::string_view data, std::int32_t flags);
  void write_as_stranger(op, std::string body);

  // leading.cpp: writes, and sessions
  void propose(replica& leader, const write_request&);
  void log(replica& leader, transaction);
  void advance(replica& leader);
  void agree(const replica& leader);
  void answer_sync(replica& leader, const origin&, session_tracker::verdict);
  void on_bucket(replica& leader);
  void close_expired(replica& leader, std::vector<std::int64_t> sessions);
  void reap_containers(replica& leader);

  // election.cpp: roles
  void tick(replica&);
  void tick_leader(replica&);
  void seek(replica&);
  void lead(replica&);
  void join(replica&, replica& leader);
  void leave(replica&);
  void part(replica& one, replica& other);

  ensemble_host& host_;
  const ensemble_options options_;
  std::vector<std::unique_ptr<replica>> replicas_;
  std::vector<link> links_;
  std::map<int, int> servers_of_;      // by connection
  std::vector<int> output_, reading_;  // connections
  tree agreed_;
  std::size_t agreed_count_ = 0;
  int connections_made_ = 0;
  std::int64_t sessions_made_ = 0, epoch_ = 0;
  moment slow_until_{}, slow_gap_{};
};

}  // namespace holdfast::sim::zk
