// A connection to a real MariaDB that executes statements as those of the library do.
#pragma once
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "backend/mysql/transport/execution.hpp"
#include "testkit/servers/mariadb_link.hpp"

namespace holdfast::mysql_test {

using counts = std::pair<long long, long long>;  // prepared, executed

// A connection whose calls are awaited one after the other.
class awaited_connection {
 public:
  explicit awaited_connection(const testkit::sql_login& login) : handle_(::mysql_init(nullptr)) {
    ::mysql_options(handle_, MYSQL_OPT_NONBLOCK, nullptr);
    EXPECT_TRUE(::mysql_real_connect(handle_, "127.0.0.1", login.user.c_str(),
                                     login.password.c_str(), login.database.c_str(),
                                     static_cast<unsigned>(login.port), nullptr,
                                     CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS))
        << ::mysql_error(handle_);
    EXPECT_TRUE(mysql::libmariadb());
    executed_.attach(handle_);
  }
  awaited_connection(const awaited_connection&) = delete;
  awaited_connection& operator=(const awaited_connection&) = delete;
  ~awaited_connection() {
    ::mysql_close(handle_);
    executed_.drop_prepared();
  }

  mysql::sql_reply execute(mysql::sql_statement s) {
    int wait = executed_.start(std::move(s));
    while (wait != 0) {
      const auto events = static_cast<short>((wait & MYSQL_WAIT_READ ? POLLIN : 0) |
                                             (wait & MYSQL_WAIT_WRITE ? POLLOUT : 0));
      pollfd socket{fd(), events, 0};
      ::poll(&socket, 1, -1);
      wait = executed_.go_on(wait);
    }
    return executed_.take_reply();
  }
  // The server forgets what it has prepared; it sends no reply to that. It continues the numbers of
  // an earlier connection of the same thread.
  void have_all_forgotten() const {
    std::string packets;
    for (int number = 0; number < 1000; ++number)
      packets += std::string{
          5, 0, 0, 0, 0x19, static_cast<char>(number & 255), static_cast<char>(number >> 8), 0, 0};
    ASSERT_EQ(::send(fd(), packets.data(), packets.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(packets.size()));
  }
  counts counted() {  // so far
    const auto count = [&](const char* name) {
      const auto r = execute(std::string("SHOW SESSION STATUS LIKE '") + name + '\'');
      return r.number(0, 1);
    };
    return {count("Com_stmt_prepare"), count("Com_stmt_execute")};
  }

 private:
  int fd() const { return static_cast<int>(::mysql_get_socket(handle_)); }

  MYSQL* const handle_;
  mysql::execution executed_;
};

}  // namespace holdfast::mysql_test
