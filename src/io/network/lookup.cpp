#include "io/network/lookup.hpp"

#include <netdb.h>
#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/quiet_thread.hpp"

namespace holdfast::io {
namespace {

constexpr std::chrono::seconds resolver_wait{1};  // where the name was known before

// Never destroyed: threads that are never joined use it. In a fork's child its mutex may be locked
// for ever, so nobody waits for that.
class known_names {
 public:
  static known_names& all() {
    static known_names& one = *new known_names;
    return one;
  }
  std::vector<endpoint> find(const std::string& place) {
    const std::unique_lock l(mutex_, std::try_to_lock);
    const auto at = l ? known_.find(place) : known_.end();
    return l && at != known_.end() ? at->second : std::vector<endpoint>();
  }
  void keep(const std::string& place, const std::vector<endpoint>& found) {
    const std::unique_lock l(mutex_, std::try_to_lock);
    if (l) known_[place] = found;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<endpoint>> known_;
};

bool start_detached(void* (*body)(void*), void* of) {
  pthread_t thread;
  if (!base::start_quiet_thread(thread, "holdfast-name", body, of)) return false;
  ::pthread_detach(thread);
  return true;
}

// Asked by one thread, awaited by another, which may leave first.
struct question {
  std::string host, port;
  resolver ask;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<found> answer;

  found run() const {
    found f = ask(host, port);
    if (!f.endpoints.empty()) known_names::all().keep(host + ' ' + port, f.endpoints);
    return f;
  }
};

struct look_up_job {
  std::shared_ptr<question> about;
  std::function<void(found)> then;

  found run() const {
    const auto known = known_names::all().find(about->host + ' ' + about->port);
    if (known.empty()) return about->run();
    auto its = std::make_unique<std::shared_ptr<question>>(about);
    const auto body = [](void* p) -> void* {
      const std::unique_ptr<std::shared_ptr<question>> q(
          static_cast<std::shared_ptr<question>*>(p));
      found f = (*q)->run();
      const std::lock_guard l((*q)->mutex);
      (*q)->answer = std::move(f);
      (*q)->changed.notify_all();
      return nullptr;
    };
    if (!start_detached(body, its.get())) return {known, {}};
    (void)its.release();  // the thread owns it now
    std::unique_lock l(about->mutex);
    about->changed.wait_for(l, resolver_wait, [&] { return about->answer.has_value(); });
    const bool is_found = about->answer && !about->answer->endpoints.empty();
    return is_found ? *about->answer : found{known, {}};
  }
};

}  // namespace

std::vector<endpoint> endpoints_of(const base::address& a) {
  if (!a.path.empty()) {
    if (a.path.size() >= sizeof(sockaddr_un::sun_path)) return {};
    return {boost::asio::local::stream_protocol::endpoint(a.path)};
  }
  boost::system::error_code no;
  const auto number = boost::asio::ip::make_address(a.host, no);
  if (no) return {};
  return {boost::asio::ip::tcp::endpoint(number, static_cast<unsigned short>(a.port))};
}

found ask_system(const std::string& host, const std::string& port) {
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

void look_up(const base::address& a, std::function<void(found)> then, resolver ask) {
  auto query = std::make_shared<question>();
  query->host = a.host;
  query->port = std::to_string(a.port);
  query->ask = ask;
  auto given = std::make_unique<look_up_job>(look_up_job{std::move(query), std::move(then)});
  const auto body = [](void* p) -> void* {
    const std::unique_ptr<look_up_job> e(static_cast<look_up_job*>(p));
    e->then(e->run());
    return nullptr;
  };
  if (start_detached(body, given.get())) {
    (void)given.release();  // the thread owns it now
  } else {
    given->then({{}, "no thread can be started to look it up; raise the limit of processes"});
  }
}

}  // namespace holdfast::io
