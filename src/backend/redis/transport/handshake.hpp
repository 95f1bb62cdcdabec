// What a new connection says first, and what is known of the connections before it.
//
//   step      | sent                                        | an error
//   ----------+---------------------------------------------+--------------------------------------
//   auth      | AUTH, where a password is given             | fails
//   select    | SELECT, where a database is given           | fails
//   name      | CLIENT SETNAME                              | goes on: a right may be lacking
//   id        | CLIENT ID                                   | goes on: nobody can end it later
//   info      | INFO server: the run_id                     | goes on
//   kill      | CLIENT KILL of each older connection, so    | goes on: it may still be running
//             | that nothing sent over it is executed later |
//   subscribe | SUBSCRIBE, on the connection for messages   | fails
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backend/redis/transport/endpoint.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/subscriptions.hpp"
#include "base/failure.hpp"
#include "base/ring.hpp"

namespace holdfast::redis {

class handshake {
 public:
  enum class outcome : unsigned char { goes_on, done, failed };

  handshake(const endpoint& e, lane what, subscriptions& channels) noexcept
      : endpoint_(e), lane_(what), channels_(channels) {}

  void begin(std::string& out);
  outcome on_reply(const value&, std::string& out);
  const core::failure& why() const noexcept { return why_; }  // it failed
  bool is_passing() const noexcept { return is_passing_; }    // another attempt may succeed
  // The connection is lost. `was_used`: requests of it may be at the server.
  void on_lost(bool was_used);
  // Of the server that was reached last; empty: not known.
  const std::string& run_id() const noexcept { return run_id_; }
  bool no_older_connection_runs() const noexcept { return none_older_; }

 private:
  enum class step : unsigned char { auth, select, name, id, info, kill, subscribe };
  void send_kill(std::string& out, std::int64_t id);
  void send_auth(std::string& out);
  static bool may_fail(step, const value&) noexcept;
  void fail(const value&);
  void on_server_info(std::string_view info, std::string& out);

  const endpoint& endpoint_;
  const lane lane_;
  subscriptions& channels_;
  core::ring<step> awaited_;
  std::int64_t own_id_ = 0;              // of this connection at the server; 0: not known
  std::vector<std::int64_t> older_ids_;  // of connections that may live on at the server
  std::string run_id_;                   // of the server that gave them their ids
  bool none_older_ = true;               // as far as can be known
  core::failure why_;
  bool is_passing_ = false;
};

}  // namespace holdfast::redis
