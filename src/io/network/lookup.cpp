#include "io/network/lookup.hpp"

#include <netdb.h>
#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/quiet_thread.hpp"

namespace holdfast::io {
namespace {

struct look_up_job {
  std::string host, port;
  std::function<void(found)> then;

  found run() const {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    if (const int e = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); e != 0)
      return {{}, ::gai_strerror(e)};
    found f;
    for (const addrinfo* a = list; a; a = a->ai_next)
      f.endpoints.emplace_back(a->ai_addr, a->ai_addrlen, a->ai_protocol);
    ::freeaddrinfo(list);
    return f;
  }
};

}  // namespace

std::vector<endpoint> endpoints_of(const core::address& a) {
  if (!a.path.empty()) {
    if (a.path.size() >= sizeof(sockaddr_un::sun_path)) return {};
    return {boost::asio::local::stream_protocol::endpoint(a.path)};
  }
  boost::system::error_code no;
  const auto number = boost::asio::ip::make_address(a.host, no);
  if (no) return {};
  return {boost::asio::ip::tcp::endpoint(number, static_cast<unsigned short>(a.port))};
}

void look_up(const core::address& a, std::function<void(found)> then) {
  auto given =
      std::make_unique<look_up_job>(look_up_job{a.host, std::to_string(a.port), std::move(then)});
  const auto body = [](void* p) -> void* {
    const std::unique_ptr<look_up_job> e(static_cast<look_up_job*>(p));
    e->then(e->run());
    return nullptr;
  };
  pthread_t thread;
  if (core::start_quiet_thread(thread, "holdfast-name", body, given.get())) {
    ::pthread_detach(thread);
    (void)given.release();  // the thread owns it now
  } else {
    given->then({{}, "no thread can be started to look it up; raise the limit of processes"});
  }
}

}  // namespace holdfast::io
