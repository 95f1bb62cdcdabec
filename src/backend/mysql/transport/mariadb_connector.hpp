// Opens connections with libmariadb. Resolving the name, the handshakes and the authentication run
// on a thread of their own: the library blocks in the first two.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "backend/mysql/transport/endpoint.hpp"
#include "backend/mysql/transport/libmariadb.hpp"
#include "backend/mysql/transport/sql_connection.hpp"
#include "io/reactor/client_reactor.hpp"

namespace holdfast::mysql {

class mariadb_connection;

// One attempt, shared by its connection and the thread that connects.
struct connecting {
  connecting() = default;
  connecting(const connecting&) = delete;
  connecting& operator=(const connecting&) = delete;
  ~connecting();

  base::address to;
  MYSQL* handle = nullptr;  // null: not connected, for the reason `why`
  failure why;
  std::atomic<bool> is_given_up = false;
  mariadb_connection* whose = nullptr;  // with the client's mutex; null: it was given up
};

class mariadb_connector final : public sql_connector {
 public:
  // Both outlive it. stop() comes before that of the reactor.
  mariadb_connector(io::client_reactor& r, const endpoint& e)
      : reactor_(r), where_(e), workers_(e.servers.size()) {}
  ~mariadb_connector() override;

  std::unique_ptr<sql_connection> connect(std::size_t server, connection_events&, base::driven_by,
                                          failure& why) override;
  void stop() noexcept override;

 private:
  void connect_now(connecting&) const;
  void set_options(MYSQL&, bool is_local, const libmariadb_functions&) const;
  bool wait_for(connecting&, const libmariadb_functions&, int& wait, time_point until) const;
  void set_up_socket(int fd, bool is_local) const noexcept;

  io::client_reactor& reactor_;
  const endpoint& where_;
  std::atomic<bool> is_stopped_ = false;
  // One for each server, so that a silent server does not delay attempts to reach the others. Made
  // with the first attempt.
  std::vector<std::unique_ptr<base::worker>> workers_;
};

}  // namespace holdfast::mysql
