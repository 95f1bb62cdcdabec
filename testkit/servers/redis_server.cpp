#include "testkit/servers/redis_server.hpp"

#include <filesystem>
#include <stdexcept>
#include <thread>

#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds start_bound{30};
constexpr int ports_tried = 8;  // another program may take a port between our look and the start

}  // namespace

bool redis_server::installed() { return is_installed("redis-server"); }

redis_server::redis_server(const redis_options& options) : options_(options) {
  if (!options_.tls.empty()) certificates_.emplace(folder_);
  if (options_.clock_shim) shim_.emplace(folder_.file("clock"));
  for (int i = 0; i < ports_tried; ++i) {
    port_ = free_port();
    start();
    if (link_) return;
  }
  throw std::runtime_error("redis-server does not come up: " + log());
}

redis_server::~redis_server() = default;

void redis_server::write_config() const {
  const std::string port = std::to_string(port_);
  std::string text = "bind 127.0.0.1\nunixsocket " + socket_path() + "\ndir " +
                     folder_.path().string() + "\nlogfile " + folder_.file("log") +
                     "\nsave \"\"\nenable-debug-command yes\ndaemonize no\n"
                     "user testkit on nopass ~* &* +@all\n";
  if (options_.durable) text += "appendonly yes\nappendfsync always\n";
  if (!options_.password.empty()) text += "requirepass " + options_.password + '\n';
  if (!options_.acl.empty()) text += "user " + options_.acl + '\n';
  if (!options_.default_user) text += "user default off\n";
  if (certificates_) {
    text += "port 0\ntls-port " + port + "\ntls-cert-file " +
            certificates_->certificate(options_.tls) + "\ntls-key-file " +
            certificates_->key(options_.tls) + "\ntls-ca-cert-file " +
            certificates_->certificate("ca") + "\ntls-auth-clients " +
            (options_.tls_clients ? "yes\n" : "no\n");
  } else {
    text += "port " + port + '\n';
  }
  for (const std::string& line : options_.config) text += line + '\n';
  folder_.write("redis.conf", text);
}

// Answers, or has ended: the port was taken, or a line of the configuration is wrong.
bool redis_server::comes_up() {
  const auto until = std::chrono::steady_clock::now() + start_bound;
  while (program_->running() && std::chrono::steady_clock::now() < until) {
    try {
      redis_link candidate = link();
      if (candidate.command({"PING"}).text == "PONG") {
        link_.emplace(std::move(candidate));
        return true;
      }
    } catch (const redis_silent&) {}
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return false;
}

void redis_server::start() {
  link_.reset();
  write_config();
  program_.emplace(program_terms{{"redis-server", folder_.file("redis.conf")},
                                 shim_ ? shim_->environment()
                                       : std::vector<std::pair<std::string, std::string>>{},
                                 folder_.file("log")});
  if (!comes_up()) program_.reset();
}

void redis_server::kill_hard() {
  link_.reset();
  program_->kill();
}

void redis_server::restart(bool keep_data) {
  if (keep_data && !options_.durable) command({"SAVE"});
  kill_hard();
  if (!keep_data) {
    std::filesystem::remove_all(folder_.path() / "appendonlydir");
    std::filesystem::remove(folder_.path() / "dump.rdb");
  }
  start();
  if (!link_) throw std::runtime_error("redis-server does not come up again: " + log());
}

std::string redis_server::url() const {
  return (certificates_ ? "rediss://127.0.0.1:" : "redis://127.0.0.1:") + std::to_string(port_);
}

std::string redis_server::socket_url() const { return "redis+unix://" + socket_path(); }

redis_link redis_server::link() const {
  redis_link fresh(socket_path());
  fresh.command({"AUTH", "testkit", "any"});
  return fresh;
}

redis_reply redis_server::command(const std::vector<std::string>& words) {
  if (!link_) throw redis_silent("the server was killed");
  try {
    return link_->command(words);
  } catch (const redis_silent&) {
    // CLIENT KILL and the like end this connection as well.
    link_.emplace(link());
    throw;
  }
}

}  // namespace holdfast::testkit
