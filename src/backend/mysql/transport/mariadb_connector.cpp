#include "backend/mysql/transport/mariadb_connector.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/mariadb_connection.hpp"

namespace holdfast::mysql {

using namespace std::chrono_literals;

namespace {

const char* or_null(const std::string& s) noexcept { return s.empty() ? nullptr : s.c_str(); }

// The library sets no FD_CLOEXEC: a child of the program would keep the locks of its parent.
void close_on_exec(int fd) noexcept { ::fcntl(fd, F_SETFD, FD_CLOEXEC); }

short poll_events_of(int wait) noexcept {
  int out = 0;
  if (wait & MYSQL_WAIT_READ) out |= POLLIN;
  if (wait & MYSQL_WAIT_WRITE) out |= POLLOUT;
  if (wait & MYSQL_WAIT_EXCEPT) out |= POLLPRI;
  return static_cast<short>(out);
}

// What the library awaits and has come. An error ends every wait.
int arrived(int wait, short events) noexcept {
  if (events & (POLLERR | POLLHUP | POLLNVAL))
    return wait & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE | MYSQL_WAIT_EXCEPT);
  int out = 0;
  if (events & POLLIN) out |= MYSQL_WAIT_READ;
  if (events & POLLOUT) out |= MYSQL_WAIT_WRITE;
  if (events & POLLPRI) out |= MYSQL_WAIT_EXCEPT;
  return out & wait;
}

}  // namespace

connecting::~connecting() {
  if (handle) libmariadb()->mysql_close(handle);
}

mariadb_connector::~mariadb_connector() { stop(); }

void mariadb_connector::stop() noexcept {
  is_stopped_ = true;
  std::vector<std::unique_ptr<base::worker>> last;
  {
    const std::lock_guard guard(reactor_.mutex());
    last = std::move(workers_);
  }
  last.clear();  // joins their threads, which take the mutex
}

std::unique_ptr<sql_connection> mariadb_connector::connect(std::size_t server,
                                                           connection_events& events,
                                                           base::driven_by by, failure& why) {
  if (is_stopped_) {
    why = {errc::closed, "the client was closed"};
    return nullptr;
  }
  if (!reactor_.start(by, why)) return nullptr;
  auto attempt = std::make_shared<connecting>();
  attempt->to = where_.servers[server];
  auto made = std::make_unique<mariadb_connection>(reactor_, events, by, attempt);
  try {
    std::unique_ptr<base::worker>& worker = workers_[server];
    if (!worker) worker = reactor_.env().make_worker("holdfast-my-con");
    worker->post([this, attempt, by] {
      connect_now(*attempt);
      reactor_.run([&](time_point, event_queue&) {
        if (attempt->whose) attempt->whose->on_connected();
      });
      by == base::driven_by::callers ? reactor_.request_flush(true)
                                     : reactor_.request_flush_of_own_loop(true);
    });
  } catch (const std::system_error& failed) {
    why = base::shortage_of(failed);
    return nullptr;
  }
  return made;
}

// Nothing of it is the default of the library: that sends the password to a server without TLS, and
// reads any local file that the server asks for.
void mariadb_connector::set_options(MYSQL& handle, bool is_local,
                                    const libmariadb_functions& lib) const {
  const unsigned no_file = 0;
  const char no = 0, yes = 1;
  const unsigned protocol = is_local ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
  lib.mysql_options(&handle, MYSQL_OPT_NONBLOCK, nullptr);
  lib.mysql_options(&handle, MYSQL_OPT_LOCAL_INFILE, &no_file);
  lib.mysql_options(&handle, MYSQL_OPT_RECONNECT, &no);
  lib.mysql_options(&handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  lib.mysql_options(&handle, MYSQL_OPT_PROTOCOL, &protocol);
  lib.mysql_optionsv(&handle, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "holdfast");
  if (!where_.tls) {
    lib.mysql_options(&handle, MYSQL_OPT_SSL_ENFORCE, &no);
    lib.mysql_options(&handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &no);
    if (!is_local)  // a plug-in of the server's choice could ask for the password
      lib.mysql_optionsv(&handle, MARIADB_OPT_RESTRICTED_AUTH, plugins_without_tls);
    return;
  }
  lib.mysql_options(&handle, MYSQL_OPT_SSL_ENFORCE, &yes);
  lib.mysql_options(&handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
  const base::tls_terms& tls = *where_.tls;
  if (!tls.ca_file.empty()) lib.mysql_options(&handle, MYSQL_OPT_SSL_CA, tls.ca_file.c_str());
  if (!tls.certificate_file.empty())
    lib.mysql_options(&handle, MYSQL_OPT_SSL_CERT, tls.certificate_file.c_str());
  if (!tls.key_file.empty()) lib.mysql_options(&handle, MYSQL_OPT_SSL_KEY, tls.key_file.c_str());
}

// False: the time has passed, or the attempt was given up.
bool mariadb_connector::wait_for(connecting& attempt, const libmariadb_functions& lib, int& wait,
                                 time_point until) const {
  constexpr auto look_at_least = 50ms;  // whether it was given up
  const int fd = static_cast<int>(lib.mysql_get_socket(attempt.handle));
  close_on_exec(fd);
  for (;;) {
    const time_point now = reactor_.env().now();
    if (now >= until || attempt.is_given_up || is_stopped_) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    pollfd polled{fd, poll_events_of(wait), 0};
    const int ready =
        ::poll(&polled, 1,
               static_cast<int>(std::min<std::chrono::milliseconds>(left, look_at_least).count()));
    if (ready <= 0) continue;
    wait = arrived(wait, polled.revents);
    return true;
  }
}

void mariadb_connector::set_up_socket(int fd, bool is_local) const noexcept {
  close_on_exec(fd);
  // Under TLS the library leaves its socket blocking: one slow statement would stop the loop.
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (is_local) return;
  // A cut network is noticed while a statement waits, within about the idle timeout.
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(where_.idle_timeout);
  const int probe_after = std::max<int>(1, static_cast<int>(idle.count() / 3)), probes = 3;
  const int pause = std::max<int>(1, probe_after / 2);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe_after, sizeof probe_after);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void mariadb_connector::connect_now(connecting& attempt) const {
  const char* trouble = nullptr;
  const libmariadb_functions* const lib = libmariadb(&trouble);
  if (!lib) {
    attempt.why = {errc::unsupported, trouble};
    return;
  }
  if (attempt.is_given_up || is_stopped_) {
    attempt.why = {errc::closed, "the client was closed"};
    return;
  }
  lib->clear_tls_errors();
  attempt.handle = lib->mysql_init(nullptr);
  if (!attempt.handle) {
    attempt.why = {errc::unavailable, "no memory is left for a connection"};
    return;
  }
  const base::address& to = attempt.to;
  const bool is_local = !to.path.empty();
  set_options(*attempt.handle, is_local, *lib);
  const time_point until = base::saturating_add(reactor_.env().now(), where_.connect_timeout);
  MYSQL* connected = nullptr;
  int wait = lib->mysql_real_connect_start(&connected, attempt.handle, or_null(to.host),
                                           or_null(where_.user), where_.password.c_str(),
                                           or_null(where_.database), static_cast<unsigned>(to.port),
                                           or_null(to.path), CLIENT_MULTI_STATEMENTS);
  bool is_in_time = true;
  while (wait != 0 && (is_in_time = wait_for(attempt, *lib, wait, until)))
    wait = lib->mysql_real_connect_cont(&connected, attempt.handle, wait);
  if (is_in_time && connected)
    return set_up_socket(static_cast<int>(lib->mysql_get_socket(attempt.handle)), is_local);
  attempt.why =
      is_in_time
          ? explain_connecting(lib->mysql_errno(attempt.handle), lib->mysql_error(attempt.handle))
          : failure{errc::unavailable, "no MySQL or MariaDB server answered within the "
                                       "connect-timeout; check the host and the port in the URL"};
  lib->mysql_close(std::exchange(attempt.handle, nullptr));
}

}  // namespace holdfast::mysql
