#include "backend/mysql/transport/mariadb_connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql {

using base::readiness;

namespace {

int wait_of(readiness r) noexcept {
  return (has(r, readiness::readable) ? MYSQL_WAIT_READ : 0) |
         (has(r, readiness::writable) ? MYSQL_WAIT_WRITE : 0);
}

readiness readiness_of(int wait) noexcept {
  readiness out = readiness::none;
  if (wait & MYSQL_WAIT_READ) out = out | readiness::readable;
  if (wait & MYSQL_WAIT_WRITE) out = out | readiness::writable;
  return out;
}

}  // namespace

mariadb_connection::mariadb_connection(io::client_reactor& r, connection_events& e,
                                       base::driven_by by, std::shared_ptr<connecting> attempt)
    : reactor_(r), events_(e), library_(r, *this, by), attempt_(std::move(attempt)) {
  attempt_->whose = this;
}

mariadb_connection::~mariadb_connection() {
  if (attempt_) {
    attempt_->is_given_up = true;
    attempt_->whose = nullptr;
  }
  // mysql_close() in the child of a fork would end the connection of the parent.
  if (handle_ && !reactor_.is_forked()) close_handle();
}

void mariadb_connection::on_connected() {
  handle_ = std::exchange(attempt_->handle, nullptr);
  why_ = std::move(attempt_->why);
  attempt_->whose = nullptr;
  attempt_.reset();
  if (handle_) id_ = library().mysql_thread_id(handle_);
  execution_.attach(handle_);
  state_ = state::opening;
  library_.request();
}

void mariadb_connection::execute(sql_statement statement) {
  next_ = std::move(statement);
  library_.request();
}

void mariadb_connection::close() {
  closes_ = true;
  library_.request();
}

bool mariadb_connection::decide(readiness ready, time_point) {
  ready_ = ready;
  action_ = action::none;
  if (state_ == state::ended) return false;
  if (closes_ || why_.code) {
    action_ = action::close;
  } else if (state_ == state::opening) {
    action_ = action::watch;
  } else if (state_ == state::idle && !next_.empty()) {
    state_ = state::running;
    action_ = action::start;
  } else if (state_ == state::idle && ready != readiness::none) {
    action_ = action::note_end;
  } else if (state_ == state::running && ready != readiness::none) {
    action_ = action::go_on;
  }
  return action_ != action::none;
}

void mariadb_connection::perform() noexcept {
  if (handle_) library().clear_tls_errors();
  switch (action_) {
    case action::watch: return watch();
    case action::start: return advance(execution_.start(std::exchange(next_, {})));
    case action::go_on: return advance(execution_.go_on(wait_of(ready_)));
    case action::note_end: return note_end();
    case action::close: return end({errc::closed, "the connection was closed"});
    case action::none: return;
  }
}

void mariadb_connection::watch() noexcept {
  try {
    if (!library_.watch(static_cast<int>(library().mysql_get_socket(handle_))))
      return end({errc::unsupported, "this environment watches no descriptors"});
    library_.await(readiness::readable);
  } catch (const std::system_error& failed) {
    end(base::shortage_of(failed));
  }
}

// A server sends nothing unasked but the reason why it closes the connection. The readiness may be
// that of the last reply, which has been read meanwhile.
void mariadb_connection::note_end() noexcept {
  const int fd = static_cast<int>(library().mysql_get_socket(handle_));
  char byte = 0;
  const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return library_.await(readiness::readable);
  end({errc::unavailable, "the server has closed the connection"});
}

void mariadb_connection::advance(int wait) noexcept {
  if (wait != 0) return library_.await(readiness_of(wait));
  const sql_reply& reply = execution_.reply();
  if (ends_connection(reply.error)) return end(explain_loss(reply.error, reply.text));
  is_answered_ = true;
  library_.await(readiness::readable);
}

void mariadb_connection::end(failure why) noexcept {
  is_answered_ = false;  // of a statement that ended the connection, the outcome is unknown
  if (!why_.code) why_ = std::move(why);
  library_.unwatch();
  close_handle();
}

// A statement that runs is cut without a farewell, and unsent bytes of it are dropped.
void mariadb_connection::close_handle() noexcept {
  if (!handle_) return;
  if (state_ == state::running) {
    const linger drop_unsent{1, 0};
    const int fd = static_cast<int>(library().mysql_get_socket(handle_));
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &drop_unsent, sizeof drop_unsent);
    ::shutdown(fd, SHUT_RDWR);
  }
  library().mysql_close(std::exchange(handle_, nullptr));
  execution_.drop_prepared();
}

void mariadb_connection::report(time_point now, event_queue& events) {
  if (why_.code) {
    state_ = state::ended;
    return events_.on_closed(why_, now, events);
  }
  if (action_ == action::watch) {
    state_ = state::idle;
    return events_.on_open(now, events);
  }
  if (!std::exchange(is_answered_, false)) return;
  state_ = state::idle;
  const sql_reply answered = execution_.take_reply();
  events_.on_reply(answered, now, events);
}

}  // namespace holdfast::mysql
