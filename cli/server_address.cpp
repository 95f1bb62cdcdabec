#include "cli/server_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <memory>
#include <system_error>

namespace holdfast::cli {
namespace {

constexpr timeval longest_silence{5, 0};

struct address_list_end {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

file_descriptor connect_to_one(const addrinfo& at) {
  file_descriptor made(::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC, at.ai_protocol));
  if (!made) return {};
  const int yes = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // On Linux the first limits connect() as well.
  ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &longest_silence, sizeof longest_silence);
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &longest_silence, sizeof longest_silence);
  if (::connect(made.get(), at.ai_addr, at.ai_addrlen) != 0) return {};
  return made;
}

}  // namespace

std::string address_text(const url::endpoint& at) {
  const bool is_v6 = at.host.find(':') != std::string::npos;
  return (is_v6 ? '[' + at.host + ']' : at.host) + ':' + std::to_string(at.port);
}

std::optional<url::endpoint> read_address(std::string_view text) {
  std::error_code ec;
  const url parsed = url::parse("redis://" + std::string(text), ec);
  const auto& found = parsed.endpoints();
  if (ec || found.size() != 1 || found.front().port == 0) return std::nullopt;
  return found.front();
}

file_descriptor connect_to(const url::endpoint& to) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &wanted, &found) != 0)
    return {};
  const std::unique_ptr<addrinfo, address_list_end> all(found);
  for (const addrinfo* at = all.get(); at != nullptr; at = at->ai_next)
    if (file_descriptor made = connect_to_one(*at)) return made;
  return {};
}

}  // namespace holdfast::cli
