// The first requests of a new connection, and the connections before it.
//
//   step      | sent                                        | an error
//   ----------+---------------------------------------------+--------------------------------------
//   auth      | AUTH, where a password is given             | fails
//   select    | SELECT, where a database is given           | fails
//   name      | CLIENT SETNAME                              | goes on: a right may be lacking
//   id        | CLIENT ID                                   | goes on: nobody can end it later
//   own_end   | CLIENT INFO: the server's address           | goes on
//   server    | INFO server: the run_id                     | goes on
//   history   | INFO replication                            | goes on
//   role      | HELLO, where no run_id was reported         | goes on
//   listener  | the same, for renewals and probes: PUBLISH  | goes on
//             | to the client's own channel                 |
//             | introduced: the owner judges whether this   |
//             | server will do                              |
//   kill      | CLIENT KILL of each older connection, so    | goes on: it may still be running
//             | that nothing sent over it is executed later |
//   own       | SUBSCRIBE to the client's own channel, if   | goes on
//             | there is one, on the connection for messages|
//   subscribe | SUBSCRIBE, the same, to plain channels      | fails
#pragma once
#include <cstdint>
#include <string>

#include "backend/redis/transport/endpoint.hpp"
#include "backend/redis/transport/older_connections.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/server_identity.hpp"
#include "backend/redis/transport/subscriptions.hpp"
#include "base/failure.hpp"
#include "base/ring.hpp"

namespace holdfast::redis {

class handshake {
 public:
  enum class outcome : unsigned char { goes_on, introduced, done, failed };

  handshake(const endpoint& e, lane purpose, subscriptions& channels) noexcept
      : endpoint_(e), lane_(purpose), channels_(channels) {}

  void begin(std::string& out, base::time_point now);
  outcome on_reply(const value&, std::string& out, base::time_point now);
  // The server is the right one: ends the connections that were left at it.
  outcome go_on(std::string& out, base::time_point now);
  const base::failure& why() const noexcept { return why_; }  // it failed
  bool is_passing() const noexcept { return is_passing_; }    // another attempt may succeed
  // The connection is lost. `was_used`: requests of it may be at the server.
  void on_lost(bool was_used, base::time_point now);
  // That was reached last.
  const server_identity& server() const noexcept { return server_; }
  bool no_older_connection_runs() const noexcept { return none_older_; }

 private:
  enum class step : unsigned char {
    auth,
    select,
    name,
    id,
    own_end,
    server,
    history,
    role,
    listener,
    kill,
    own,
    subscribe,
  };
  template <class... Words>
  void send(std::string& out, step s, const Words&... words) {
    awaited_.push_back(s);
    append_command(out, words...);
  }
  void send_auth(std::string& out);
  void ask_without_info(std::string& out);
  static bool may_fail(step, const value&) noexcept;
  void fail(const value&);
  outcome outcome_of_step() noexcept;

  const endpoint& endpoint_;
  const lane lane_;
  subscriptions& channels_;
  base::ring<step> awaited_;
  base::ring<std::int64_t> killed_;  // older connections, in the order of their kill steps
  std::int64_t own_id_ = 0;          // of this connection at the server; 0: not known
  std::string published_to_;         // the client's own channel
  server_identity server_;
  older_connections older_;
  bool none_older_ = true;  // as far as can be known
  base::failure why_;
  bool is_passing_ = false;
};

}  // namespace holdfast::redis
