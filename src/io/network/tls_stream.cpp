#include "io/network/tls_stream.hpp"

#include <array>
#include <mutex>
#include <utility>

#include "io/network/socket_stream.hpp"
#include "io/network/tls_session.hpp"

namespace holdfast::io {
namespace {

constexpr std::size_t record_size = 16384;  // of plain text, at most

// Between a socket_stream and the user of the TLS stream. Kept alive by the stream and by its own
// events.
class tls_connection final : public std::enable_shared_from_this<tls_connection>,
                             public base::stream_events {
 public:
  tls_connection(base::tls_terms t, const std::string& where, base::stream_events& e)
      : where_(where), session_(t, where), events_(&e) {}

  void start(network& n, const base::address& a) {
    if (!session_.trouble().code) {
      connection_ = std::make_shared<socket_stream>(n, a, *this);
      return connection_->connect();
    }
    n.post([self = shared_from_this()] { self->close(self->session_.trouble()); });
  }
  void write(std::span<const std::byte> bytes) noexcept {
    const lock l(mutex_);
    if (!is_open_) return;
    session_.write(bytes);
    send();
  }
  void abort() noexcept {
    if (connection_) connection_->abort();
  }
  void finish() noexcept {
    const lock l(mutex_);
    if (!is_open_) return;
    session_.send_close_notify();
    send();
    connection_->finish();
  }
  base::address peer() const { return connection_ ? connection_->peer() : base::address(); }
  static void drop(std::shared_ptr<tls_connection> t) noexcept {
    t->events_ = nullptr;
    if (t->connection_) socket_stream::drop(std::move(t->connection_));
  }

 private:
  using lock = std::lock_guard<std::mutex>;
  using state = tls_session::state;

  void on_open() override {
    const lock l(mutex_);
    session_.shake_hands();
    send();
  }

  void on_bytes(std::span<const std::byte> bytes) override {
    const auto self = shared_from_this();
    {
      const lock l(mutex_);
      session_.feed(bytes);
    }
    if (!shaken_ && !shake_hands()) return;
    while (events_ && read()) {}
  }

  // Returns true when the handshake is done.
  bool shake_hands() {
    state s;
    {
      const lock l(mutex_);
      s = session_.shake_hands();
      send();
      is_open_ = s == state::done;
    }
    if (s == state::failed) close(session_.trouble());
    if (s != state::done) return false;
    shaken_ = true;
    events_->on_open();
    return true;
  }

  // Returns true when there may be more.
  bool read() {
    std::array<std::byte, record_size> plain;
    std::size_t n;
    state after;
    {
      const lock l(mutex_);
      n = session_.read(plain, after);
      send();
    }
    if (n > 0) events_->on_bytes(std::span(plain).first(n));
    if (after == state::failed) close(session_.trouble());
    if (after == state::done)
      close({errc::unavailable, where_ + ": the server has closed the connection"});
    return n > 0;
  }

  void on_closed(base::failure why) override {
    if (!shaken_ && connected_)
      why.text += "; the TLS handshake was not finished: does the server speak TLS there?";
    close(std::move(why));
  }

  void close(base::failure why) {
    {
      const lock l(mutex_);
      is_open_ = false;
    }
    base::stream_events* const user = std::exchange(events_, nullptr);
    if (connection_) connection_->end();
    if (user) user->on_closed(std::move(why));
  }

  // With the lock held, so that records are sent in the order of their numbers.
  void send() noexcept {
    connected_ = true;
    std::array<std::byte, record_size + 512> record;
    for (auto out = session_.take(record); !out.empty(); out = session_.take(record))
      connection_->write(out);
  }

  const std::string where_;
  std::shared_ptr<socket_stream> connection_;
  std::mutex mutex_;  // guards:
  tls_session session_;
  bool is_open_ = false;

  base::stream_events* events_;  // used by the driving thread only, as the two below
  bool shaken_ = false;
  bool connected_ = false;
};

}  // namespace

std::unique_ptr<base::stream> make_tls_stream(network& n, const base::address& a,
                                              const base::tls_terms& t, base::stream_events& e) {
  base::tls_terms terms = t;
  if (terms.host.empty()) terms.host = a.host;
  const auto connection = std::make_shared<tls_connection>(std::move(terms), text_of(a), e);
  connection->start(n, a);
  return std::make_unique<shared_stream<tls_connection>>(connection);
}

}  // namespace holdfast::io
