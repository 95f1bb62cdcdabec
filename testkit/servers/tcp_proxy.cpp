#include "testkit/servers/tcp_proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/port.hpp"
#include "testkit/servers/proxy_half.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::size_t directions = 2;  // indexed by direction: up to the server, down to the client

void close_by_reset(int socket) {
  const linger hard{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  ::close(socket);
}

}  // namespace

struct proxied {  // a connection
  proxied_connection name;
  // sockets[d] is where direction d comes from; the other one is where it goes to.
  std::array<int, directions> sockets{-1, -1};
  std::array<proxy_half, directions> halves;
  std::array<bool, directions> end_told{};
  std::array<bool, directions> has_come{};  // by the last poll(): there is something to take

  int to(std::size_t d) const { return sockets[1 - d]; }
  void reset() {
    for (int& s : sockets) {
      close_by_reset(s);
      s = -1;
    }
  }
};

class tcp_proxy::engine {
 public:
  // Without `connect` it connects to a target, a port of 127.0.0.1.
  engine(std::vector<int> targets, std::function<int()> connect)
      : targets_(std::move(targets)),
        connect_(std::move(connect)),
        listener_(listen_on(free_port())) {
    port_ = port_of(listener_);
    rules_.fill(std::make_shared<const flow>());
    thread_ = std::thread([this] { run(); });
  }

  ~engine() {
    tell([this] { stopping_ = true; });
    thread_.join();
    for (proxied& c : connections_) c.reset();
    if (listener_ >= 0) ::close(listener_);
    ::close(bell_);
  }

  // Runs it on the proxy's thread, between two calls of poll(): a descriptor that poll() watches
  // stays open for the kernel when it is closed.
  void tell(const std::function<void()>& what) {
    std::unique_lock lock(mutex_);
    reported_.wait(lock, [this] { return order_ == nullptr; });
    order_ = &what;
    ::eventfd_write(bell_, 1);
    reported_.wait(lock, [&] { return order_ != &what; });
  }

  void set(std::size_t d, const flow& f, applies_to whom) {
    rules_[d] = std::make_shared<const flow>(f);
    if (whom == applies_to::all)
      for (proxied& c : connections_) c.halves[d].rules = rules_[d];
  }

  void cut_after(std::size_t d, std::uint64_t bytes) {
    allowance_[d] = bytes;
    cut_ = false;
  }

  void reset_all() {
    for (proxied& c : connections_) forget(c);
    connections_.clear();
  }

  void reset(const std::vector<std::uint64_t>& numbers) {
    std::erase_if(connections_, [&](proxied& c) {
      const bool is_meant = std::ranges::find(numbers, c.name.number) != numbers.end();
      if (is_meant) forget(c);
      return is_meant;
    });
  }

  void route_to(const std::vector<int>& targets, std::uint64_t seed) {
    targets_ = targets;
    connect_ = nullptr;
    dice_.seed(seed);
  }

  std::vector<proxied_connection> connections() const {
    std::vector<proxied_connection> all;
    for (const proxied& c : connections_) all.push_back(c.name);
    return all;
  }

  void refuse(bool yes) {
    if (yes == (listener_ < 0)) return;
    if (yes) ::close(listener_);
    listener_ = yes ? -1 : listen_on(port_);
  }

  proxy_counts counts() const {
    proxy_counts now = gone_;
    now.open = connections_.size();
    for (const proxied& c : connections_) {
      now.to_server += c.halves[0].passed();
      now.to_client += c.halves[1].passed();
    }
    return now;
  }

  bool was_cut() const noexcept { return cut_; }

  int port() const noexcept { return port_; }

 private:
  void run();
  void obey();
  int watch(std::vector<pollfd>&) const;
  void note_what_came(const std::vector<pollfd>&);
  void accept_all();
  bool serve(proxied&, proxy_clock::time_point now);

  void forget(proxied& c) {
    gone_.to_server += c.halves[0].passed();
    gone_.to_client += c.halves[1].passed();
    c.reset();
  }

  int draw_target() { return targets_[targets_.size() == 1 ? 0 : dice_() % targets_.size()]; }

  std::vector<int> targets_;
  std::function<int()> connect_;
  std::mt19937_64 dice_;
  int listener_, port_ = 0;
  const int bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::mutex mutex_;  // over order_; all else is the thread's own
  std::condition_variable reported_;
  const std::function<void()>* order_ = nullptr;
  bool stopping_ = false, cut_ = false;
  std::array<std::shared_ptr<const flow>, directions> rules_;
  std::array<std::optional<std::uint64_t>, directions> allowance_;
  std::list<proxied> connections_;
  proxy_counts gone_;  // what is counted of connections that are no more
  std::thread thread_;
};

// Fills in what to wait for and returns for how many milliseconds at most.
int tcp_proxy::engine::watch(std::vector<pollfd>& watched) const {
  watched = {{bell_, POLLIN, 0}, {listener_, POLLIN, 0}};
  auto due = proxy_clock::time_point::max();
  for (const proxied& c : connections_) {
    for (std::size_t d = 0; d < directions; ++d) {
      const int events =
          (c.halves[d].wants_more() ? POLLIN : 0) | (c.halves[1 - d].wants_room() ? POLLOUT : 0);
      if (events != 0) watched.push_back({c.sockets[d], static_cast<short>(events), 0});
      due = std::min(due, c.halves[d].next_due());
    }
  }
  if (due == proxy_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - proxy_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

// Asked of each socket in each round, recv() was a third of what tests with many clients cost.
void tcp_proxy::engine::note_what_came(const std::vector<pollfd>& watched) {
  auto at = watched.begin() + 2;  // in the order of watch()
  for (proxied& c : connections_) {
    for (std::size_t d = 0; d < directions; ++d) {
      const bool is_watched = at != watched.end() && at->fd == c.sockets[d];
      c.has_come[d] = is_watched && (at->revents & ~POLLOUT) != 0;
      if (is_watched) ++at;
    }
  }
}

void tcp_proxy::engine::obey() {
  eventfd_t rings;
  ::eventfd_read(bell_, &rings);
  const std::lock_guard lock(mutex_);
  if (!order_) return;
  (*order_)();
  order_ = nullptr;
  reported_.notify_all();
}

void tcp_proxy::engine::run() {
  std::vector<pollfd> watched;
  while (!stopping_) {
    const int timeout = watch(watched);
    ::poll(watched.data(), watched.size(), timeout);
    note_what_came(watched);
    obey();
    if (watched[1].revents != 0) accept_all();
    const auto now = proxy_clock::now();
    for (auto c = connections_.begin(); c != connections_.end();) {
      const bool goes_on = serve(*c, now);
      if (!goes_on) forget(*c);
      c = goes_on ? std::next(c) : connections_.erase(c);
    }
  }
}

void tcp_proxy::engine::accept_all() {
  const int yes = 1;
  for (;;) {
    const int client = listener_ < 0 ? -1 : ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    ++gone_.accepted;
    const int target = connect_ ? 0 : draw_target();
    const int server = connect_ ? connect_() : connect_to(target);
    if (server < 0) {
      close_by_reset(client);
      continue;
    }
    proxied& c = connections_.emplace_back();
    c.name = {gone_.accepted, target, port_of(server)};
    c.sockets = {client, server};
    for (std::size_t d = 0; d < directions; ++d) {
      c.halves[d].rules = rules_[d];
      ::setsockopt(c.sockets[d], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
  }
}

// False when the connection is at its end.
bool tcp_proxy::engine::serve(proxied& c, proxy_clock::time_point now) {
  for (std::size_t d = 0; d < directions; ++d) {
    proxy_half& half = c.halves[d];
    if (c.has_come[d] && half.wants_more() && !half.take(c.sockets[d], c.name)) return false;
    // Its sender does not listen any more either.
    if (half.ended() == ending::reset) c.halves[1 - d].close();
    if (!half.give(c.to(d), now, allowance_[d])) {
      allowance_[d].reset();
      cut_ = true;
      return false;
    }
  }
  for (std::size_t d = 0; d < directions; ++d) {
    const proxy_half& half = c.halves[d];
    if (half.ended() == ending::none || !half.drained()) continue;
    if (half.ended() == ending::reset) return false;
    if (!c.end_told[d]) ::shutdown(c.to(d), SHUT_WR);
    c.end_told[d] = true;
  }
  return !(c.end_told[0] && c.end_told[1]);
}

tcp_proxy::tcp_proxy(int target_port)
    : engine_(std::make_unique<engine>(std::vector{target_port}, nullptr)) {}
tcp_proxy::tcp_proxy(std::function<int()> connect)
    : engine_(std::make_unique<engine>(std::vector<int>(), std::move(connect))) {}
tcp_proxy::~tcp_proxy() = default;

int tcp_proxy::port() const noexcept { return engine_->port(); }
std::string tcp_proxy::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void tcp_proxy::set(direction d, const flow& f, applies_to whom) {
  engine_->tell([&] { engine_->set(static_cast<std::size_t>(d), f, whom); });
}

void tcp_proxy::set_both(const flow& f, applies_to whom) {
  set(direction::to_server, f, whom);
  set(direction::to_client, f, whom);
}

void tcp_proxy::cut_after(direction d, std::uint64_t bytes) {
  engine_->tell([&] { engine_->cut_after(static_cast<std::size_t>(d), bytes); });
}

bool tcp_proxy::was_cut() const {
  bool cut = false;
  engine_->tell([&] { cut = engine_->was_cut(); });
  return cut;
}

void tcp_proxy::reset_all() {
  engine_->tell([&] { engine_->reset_all(); });
}

void tcp_proxy::reset(const std::vector<std::uint64_t>& numbers) {
  engine_->tell([&] { engine_->reset(numbers); });
}

void tcp_proxy::route_to(int target_port) { route_to({target_port}, 0); }

void tcp_proxy::route_to(const std::vector<int>& target_ports, std::uint64_t seed) {
  engine_->tell([&] { engine_->route_to(target_ports, seed); });
}

std::vector<proxied_connection> tcp_proxy::connections() const {
  std::vector<proxied_connection> all;
  engine_->tell([&] { all = engine_->connections(); });
  return all;
}

void tcp_proxy::refuse(bool yes) {
  engine_->tell([&] { engine_->refuse(yes); });
}

proxy_counts tcp_proxy::counts() const {
  proxy_counts now;
  engine_->tell([&] { now = engine_->counts(); });
  return now;
}

}  // namespace holdfast::testkit
