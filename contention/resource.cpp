#include "contention/resource.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace holdfast::contention {
namespace {

constexpr int look_for_the_end_ms = 50;
constexpr std::size_t longest_message = 4096;
constexpr std::string_view planted_word = "planted";

[[noreturn]] void socket_failed(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::length_error(path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int seqpacket_socket() {
  const int made = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (made < 0) socket_failed("socket");
  return made;
}

}  // namespace

fenced_resource::fenced_resource(const std::string& socket_path, const std::string& history_path,
                                 bool is_guarded)
    : history_(history_path), is_guarded_(is_guarded), listener_(seqpacket_socket()) {
  const sockaddr_un address = address_of(socket_path);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0)
    socket_failed("listen");
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

fenced_resource::~fenced_resource() {
  thread_.request_stop();
  thread_.join();
  for (const int each : connections_) ::close(each);
  ::close(listener_);
}

void fenced_resource::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> waited{{listener_, POLLIN, 0}};
    for (const int each : connections_) waited.push_back({each, POLLIN, 0});
    if (::poll(waited.data(), waited.size(), look_for_the_end_ms) <= 0) continue;
    std::vector<int> open;
    for (std::size_t i = 1; i < waited.size(); ++i) {
      if (waited[i].revents == 0 || answer(waited[i].fd))
        open.push_back(waited[i].fd);
      else
        ::close(waited[i].fd);
    }
    connections_ = std::move(open);
    if (waited[0].revents != 0) accept_one();
  }
}

void fenced_resource::accept_one() {
  const int one = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (one >= 0) connections_.push_back(one);
}

bool fenced_resource::answer(int connection) {
  std::string message(longest_message, '\0');
  const auto size = ::recv(connection, message.data(), message.size(), 0);
  if (size <= 0) return false;
  message.resize(static_cast<std::size_t>(size));
  const char reply = decide(message) ? '1' : '0';
  return ::send(connection, &reply, 1, MSG_NOSIGNAL) == 1;
}

bool fenced_resource::decide(const std::string& message) {
  std::istringstream words(message);
  history::record r;
  std::string owner, how;
  words >> r.process >> r.lock >> r.token >> owner >> how;
  r.what = history::operation::write;
  r.planted = how == planted_word;
  fencing_guard& guard = guards_.try_emplace(r.lock).first->second;
  const bool admitted = guard.admit(r.token, owner) || !is_guarded_;
  r.outcome = admitted ? history::result::ok : history::result::refused;
  r.call = r.back = history::history_now();
  history_.add(r);
  return admitted;
}

resource_connection::resource_connection(const std::string& socket_path)
    : socket_(seqpacket_socket()) {
  const sockaddr_un address = address_of(socket_path);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  ::close(socket_);
  socket_failed("connect to the resource");
}

resource_connection::~resource_connection() { ::close(socket_); }

bool resource_connection::write(const std::string& process, const std::string& lock,
                                std::int64_t token, const std::string& owner,
                                bool is_planted) const {
  std::string message = process + ' ' + lock + ' ' + std::to_string(token) + ' ' +
                        (owner.empty() ? "-" : history::encode(owner));
  if (is_planted) message.append(1, ' ').append(planted_word);
  char reply = 0;
  if (::send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0 ||
      ::recv(socket_, &reply, 1, 0) != 1)
    throw std::runtime_error("the resource has ended");
  return reply == '1';
}

}  // namespace holdfast::contention
