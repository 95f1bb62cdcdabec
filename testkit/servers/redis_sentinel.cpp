#include "testkit/servers/redis_sentinel.hpp"

#include <stdexcept>

#include "testkit/servers/port.hpp"
#include "testkit/servers/redis_program.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::size_t id_length = 40;

// A sentinel that was stopped, or got no processor time, for 2 s takes no part in a failover for
// the next 30 s. That is too long for a test that stops one, and for a busy machine. And it pings
// as rarely as a master may be silent, at most once a second: with a short down-after it takes a
// new master for dead before that has answered once.
const std::vector<std::string> timing{"tilt-period", "2000", "ping-period", "250"};

}  // namespace

redis_sentinel::redis_sentinel() : port_(free_port()) {}
redis_sentinel::~redis_sentinel() = default;

std::string redis_sentinel::id() const {
  const std::string port = std::to_string(port_);
  return std::string(id_length - port.size(), '0') + port;
}

void redis_sentinel::configure(const std::vector<std::string>& lines) {
  std::string text = "port " + std::to_string(port_) + "\nbind 127.0.0.1\nunixsocket " +
                     folder_.file("s") + "\ndir " + folder_.path().string() + "\nlogfile " +
                     folder_.file("log") + "\ndaemonize no\nsentinel myid " + id() + '\n';
  if (tested_redis().is_at_least(6, 2)) text += "user testkit on nopass ~* &* +@all\n";
  for (const std::string& line : lines) text += line + '\n';
  folder_.write("sentinel.conf", text);
}

void redis_sentinel::start() {
  link_.reset();
  program_.emplace(program_terms{{tested_redis().file, folder_.file("sentinel.conf"), "--sentinel"},
                                 {},
                                 folder_.file("log")});
  auto up = link_once_up(*program_, [this] { return link(); });
  if (!up) throw std::runtime_error("a redis sentinel does not come up: " + log());
  link_.emplace(std::move(*up));
  is_running_ = true;
  std::vector<std::string> words{"SENTINEL", "DEBUG"};
  words.insert(words.end(), timing.begin(), timing.end());
  command(words);  // older versions report an error, and keep their timing
}

void redis_sentinel::kill() {
  is_running_ = false;
  link_.reset();
  program_->kill();
}

void redis_sentinel::stop() {
  is_running_ = false;
  program_->stop();
}

void redis_sentinel::go_on() {
  program_->go_on();
  is_running_ = true;
}

redis_link redis_sentinel::link() const {
  redis_link fresh(folder_.file("s"));
  if (tested_redis().is_at_least(6, 2)) fresh.command({"AUTH", "testkit", "any"});
  return fresh;
}

redis_reply redis_sentinel::command(const std::vector<std::string>& words) {
  if (!is_running_ || !link_) throw redis_silent("the sentinel is not running");
  try {
    return link_->command(words);
  } catch (const redis_silent&) {
    link_.emplace(link());  // CLIENT KILL ends this connection as well
    throw;
  }
}

}  // namespace holdfast::testkit
