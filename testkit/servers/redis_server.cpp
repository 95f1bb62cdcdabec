#include "testkit/servers/redis_server.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "testkit/eventually.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds clock_bound{30};
constexpr std::chrono::seconds replication_bound{30};
constexpr std::chrono::milliseconds clock_tolerance{500};
constexpr int ports_tried = 8;  // another program may take a port between our look and the start

}  // namespace

bool redis_server::installed() {
  return std::getenv("HOLDFAST_TEST_REDIS_SERVER") || is_installed("redis-server");
}

redis_server::redis_server(const redis_options& options) : options_(options) {
  if (!options_.tls.empty()) certificates_.emplace(folder_);
  if (options_.clock_shim) shim_.emplace(folder_.file("clock"));
  for (int i = 0; i < ports_tried; ++i) {
    port_ = options_.cluster ? free_port_with_bus() : free_port();
    start();
    if (link_) return;
  }
  throw std::runtime_error("redis-server does not come up: " + log());
}

redis_server::~redis_server() = default;

std::filesystem::path redis_server::data_folder() const {
  if (options_.data_folder.empty()) return folder_.path();
  return options_.data_folder;
}

void redis_server::write_config() const {
  const std::string port = std::to_string(port_);
  // jemalloc's threads would take the processor from other tests.
  std::string text =
      "bind 127.0.0.1\nunixsocket " + socket_path() + "\ndir " + data_folder().string() +
      "\nlogfile " + folder_.file("log") +
      "\nsave \"\"\ndaemonize no\nrepl-diskless-sync-delay 0\njemalloc-bg-thread no\n"
      "user testkit on nopass ~* &* +@all\n";
  if (tested_redis().is_at_least(7, 0)) text += "enable-debug-command yes\n";
  // Without an announced address, a node reports none until another node has sent it a message.
  if (options_.cluster)
    text += "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-announce-ip 127.0.0.1\n";
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

void redis_server::start() {
  link_.reset();
  is_stopped_ = false;
  write_config();
  program_.emplace(program_terms{{tested_redis().file, folder_.file("redis.conf")},
                                 shim_ ? shim_->environment()
                                       : std::vector<std::pair<std::string, std::string>>{},
                                 folder_.file("log")});
  if (auto up = link_once_up(*program_, [this] { return link(); }))
    link_.emplace(std::move(*up));
  else
    program_.reset();
}

void redis_server::stop() {
  program_->stop();
  is_stopped_ = true;
}

void redis_server::go_on() {
  program_->go_on();
  is_stopped_ = false;
}

void redis_server::kill_hard() {
  link_.reset();
  program_->kill();
}

void redis_server::restart(bool keep_data) {
  if (keep_data && !options_.durable) command({"SAVE"});
  kill_hard();
  if (!keep_data) {
    std::filesystem::remove_all(data_folder() / "appendonlydir");
    std::filesystem::remove(data_folder() / "dump.rdb");
  }
  start();
  if (!link_) throw std::runtime_error("redis-server does not come up again: " + log());
}

void redis_server::set_clock(std::chrono::milliseconds offset) {
  using std::chrono::system_clock;
  shim_->set_offset(offset);
  const auto has_followed = [&] {
    const redis_reply time = command({"TIME"});
    const auto server = std::chrono::seconds(std::stoll(time.items.at(0).text)) +
                        std::chrono::microseconds(std::stoll(time.items.at(1).text));
    const auto wanted = system_clock::now().time_since_epoch() + offset;
    return std::chrono::abs(server - wanted) < clock_tolerance;
  };
  if (!eventually(has_followed, clock_bound))
    throw std::runtime_error("the server's clock does not follow");
}

std::string redis_server::info(const std::string& field) {
  const std::string text = '\n' + command({"INFO"}).text;
  const std::size_t at = text.find('\n' + field + ':');
  if (at == text.npos) return {};
  const std::size_t begin = at + field.size() + 2;
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

// Both have to report it: a master counts a replica as online a moment after the replica is.
bool redis_server::is_replica_of(redis_server& master) {
  if (master.info("role") != "master" || info("master_port") != std::to_string(master.port()))
    return false;
  const std::string mine = ",port=" + std::to_string(port_) + ",state=online,";
  return info("master_link_status") == "up" &&
         master.command({"INFO", "replication"}).text.find(mine) != std::string::npos;
}

void redis_server::wait_until(const std::function<bool()>& is_replicated) {
  if (!eventually(is_replicated, replication_bound))
    throw std::runtime_error("a redis-server does not replicate its master: " + log());
}

void redis_server::wait_until_in_sync_with(redis_server& master) {
  wait_until([&] { return is_replica_of(master); });
}

void redis_server::catch_up_with(redis_server& master) {
  const long long written = std::stoll(master.info("master_repl_offset"));
  wait_until([&] { return std::stoll(info("slave_repl_offset")) >= written; });
}

void redis_server::replicate(redis_server& master) {
  command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  wait_until_in_sync_with(master);
}

void redis_server::promote() { command({"REPLICAOF", "NO", "ONE"}); }

void redis_server::fail_over_to(redis_server& replica) {
  const redis_reply begun =
      command({"FAILOVER", "TO", "127.0.0.1", std::to_string(replica.port())});
  if (begun.is_error())
    throw std::runtime_error("a redis-server does not fail over: " + begun.text);
  wait_until_in_sync_with(replica);
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
  // CLIENT KILL and the like end this connection as well.
  if (link_->is_closed()) link_.emplace(link());
  try {
    link_->send(words);
  } catch (const redis_silent&) {  // the server has just closed it, and executes nothing of it
    link_.emplace(link());
    link_->send(words);
  }
  try {
    return link_->receive();
  } catch (const redis_silent& e) {
    link_.emplace(link());
    throw redis_silent(words.front() + " at port " + std::to_string(port_) + ": " + e.what());
  }
}

}  // namespace holdfast::testkit
