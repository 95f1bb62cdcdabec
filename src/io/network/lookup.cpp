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

template <class Job>
bool start_detached(Job job) {
  pthread_t thread;
  if (!base::start_quiet_thread(thread, "holdfast-name", std::move(job))) return false;
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
    const auto ask = [q = about] {
      found f = q->run();
      const std::lock_guard l(q->mutex);
      q->answer = std::move(f);
      q->changed.notify_all();
    };
    if (!start_detached(ask)) return {known, {}};
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
  const look_up_job job{std::move(query), std::move(then)};
  if (!start_detached([its = job] { its.then(its.run()); }))
    job.then({{}, "no thread can be started to look it up; raise the limit of processes"});
}

}  // namespace holdfast::io
