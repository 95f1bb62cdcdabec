#include "testkit/servers/zookeeper_server.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "testkit/servers/class_archive.hpp"
#include "testkit/servers/port.hpp"
#include "testkit/servers/zookeeper_log.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds serving_bound{60};
constexpr std::chrono::milliseconds word_answer_bound{5'000};
// A server that starts may answer and leave the connection open. Who asks for the mode asks again.
constexpr std::chrono::milliseconds mode_bound{500};
constexpr int server_ports_tried =
    4;  // another program may take a port between our look and the start

// The server's own jar names most of the others. What it lacks: a decoder that Netty needs for TLS,
// and something that writes the log.
constexpr std::array server_jars = {"/usr/share/java/zookeeper.jar",
                                    "/usr/share/java/netty-codec.jar",
                                    "/usr/share/java/slf4j-simple.jar"};

// Another version of the server: all its jars, as Java's option -cp takes them.
const char* other_class_path() {
  const char* const given = std::getenv("HOLDFAST_TEST_ZOOKEEPER_CLASSPATH");
  return given && *given ? given : nullptr;
}

std::string class_path() {
  if (const char* const given = other_class_path()) return given;
  std::string all_jars;
  for (const char* jar : server_jars) all_jars.append(all_jars.empty() ? "" : ":").append(jar);
  return all_jars;
}

constexpr std::chrono::seconds end_bound{30};

bool accepts(int port) {
  const int socket = connect_to(port);
  if (socket >= 0) ::close(socket);
  return socket >= 0;
}

}  // namespace

bool zookeeper_server::installed() {
  if (other_class_path()) return is_installed("java");
  for (const char* jar : server_jars)
    if (!std::filesystem::exists(jar)) return false;
  return is_installed("java");
}

zookeeper_server::zookeeper_server(const zookeeper_options& options) : options_(options) {
  if (!options_.tls.empty()) {
    certificates_.emplace(folder_);
    folder_.write("server.pem",
                  folder_.read(options_.tls + ".key") + folder_.read(options_.tls + ".crt"));
    folder_.write("ca.pem", folder_.read("ca.crt"));
  }
  if (options_.clock_shim) shim_.emplace(folder_.file("clock"));
  if (options_.id != 0) {
    std::filesystem::create_directory(data());
    if (!(std::ofstream(data() + "/myid") << options_.id).flush())
      throw std::runtime_error("cannot write to " + data());
  }
  for (int i = 0; i < (options_.port == 0 ? server_ports_tried : 1); ++i) {
    port_ = options_.port == 0 ? free_port() : options_.port;
    start();
    if (program_) return;
  }
  throw std::runtime_error("zookeeper does not come up: " + log());
}

zookeeper_server::~zookeeper_server() = default;

std::string zookeeper_server::data() const {
  return options_.data_folder.empty() ? folder_.file("data") : options_.data_folder + "/data";
}

void zookeeper_server::write_config() const {
  const std::string port = std::to_string(port_);
  std::string text = "tickTime=" + std::to_string(options_.tick.count()) +
                     "\ninitLimit=10\nsyncLimit=5\nadmin.enableServer=false\n"
                     "4lw.commands.whitelist=*\ndataDir=" +
                     data() + '\n';
  if (certificates_) {
    text += "secureClientPort=" + port +
            "\nsecureClientPortAddress=127.0.0.1\n"
            "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
            "ssl.keyStore.location=" +
            folder_.file("server.pem") + "\nssl.trustStore.location=" + folder_.file("ca.pem") +
            "\nssl.clientAuth=" + (options_.tls_clients ? "need\n" : "none\n");
  } else {
    text += "clientPort=" + port + "\nclientPortAddress=127.0.0.1\n";
  }
  for (const std::string& line : options_.config) text += line + '\n';
  folder_.write("zoo.cfg", text);
}

// JVM options for a server that runs for seconds only.
std::string zookeeper_server::class_words() const {
  if (!options_.writes_classes.empty())
    return "-XX:ArchiveClassesAtExit=" + options_.writes_classes;
  const char* const name = other_class_path() ? "zookeeper-other" : "zookeeper";
  const std::string archive = class_archive(name, [](const std::string& file) {
    zookeeper_server server({.writes_classes = file});
    client::open(server.url()).mutex("a").acquire().release();
    server.program_->signal(SIGTERM);
    server.program_->wait(end_bound);
  });
  return archive.empty() ? archive : "-XX:SharedArchiveFile=" + archive;
}

// A small heap and a quick start: a server lives for seconds.
std::vector<std::string> zookeeper_server::command_line() const {
  std::vector<std::string> words = {"java",
                                    options_.is_measured ? "-Xmx512m" : "-Xmx128m",
                                    "-XX:+UseSerialGC",
                                    "-XX:-UsePerfData",
                                    "-Dzookeeper.jmx.log4j.disable=true",
                                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                    "-Djava.io.tmpdir=" + folder_.path().string()};
  if (!options_.is_measured) {
    words.push_back("-XX:TieredStopAtLevel=1");
    if (const std::string classes = class_words(); !classes.empty()) words.push_back(classes);
  }
  if (!options_.syncs) words.push_back("-Dzookeeper.forceSync=no");
  for (const std::string& property : options_.properties) words.push_back("-D" + property);
  for (const std::string& word :
       {std::string("-cp"), class_path(),
        std::string("org.apache.zookeeper.server.quorum.QuorumPeerMain"), folder_.file("zoo.cfg")})
    words.push_back(word);
  return words;
}

// Serves, or has ended: the port was taken, or a line of the configuration is wrong. It takes
// connections a moment before it serves them.
bool zookeeper_server::comes_up() {
  const bool is_asked = !certificates_ && options_.id == 0;
  return program_->comes_up([&] { return is_asked ? !mode().empty() : accepts(port_); },
                            serving_bound);
}

void zookeeper_server::start() {
  write_config();
  program_terms terms{command_line(), {}, folder_.file("log")};
  if (shim_) terms.environment = shim_->environment();
  program_.emplace(terms);
  if (!comes_up()) program_.reset();
}

void zookeeper_server::set_created(const std::string& child, std::int32_t count) {
  kill_hard();
  testkit::set_created(data(), child, count);
  start();
}

void zookeeper_server::kill_hard() { program_->kill(); }

std::string zookeeper_server::url() const {
  return (certificates_ ? "zookeepers://127.0.0.1:" : "zookeeper://127.0.0.1:") +
         std::to_string(port_);
}

std::string zookeeper_server::ask(const std::string& word) const {
  return ask_within(word, word_answer_bound);
}

std::string zookeeper_server::ask_within(const std::string& word,
                                         std::chrono::milliseconds silence) const {
  const int socket = connect_to(port_);
  if (socket < 0) return {};
  std::string answer;
  std::array<char, 4096> buffer;
  if (::send(socket, word.data(), word.size(), MSG_NOSIGNAL) == ssize_t(word.size())) {
    for (pollfd p{socket, POLLIN, 0}; ::poll(&p, 1, static_cast<int>(silence.count())) == 1;) {
      const ssize_t n = ::recv(socket, buffer.data(), buffer.size(), 0);
      if (n <= 0) break;
      answer.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  ::close(socket);
  return answer;
}

std::string zookeeper_server::mode() const {
  constexpr std::string_view label = "Mode: ";
  const std::string answer = ask_within("srvr", mode_bound);
  const std::size_t at = answer.find(label);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + label.size();
  return answer.substr(begin, answer.find('\n', begin) - begin);
}

std::string zookeeper_server::sessions() const {
  constexpr std::string_view before = ")/(";  // "Session Sets (BUCKETS)/(SESSIONS):" comes first
  const std::string answer = ask("dump");
  const std::size_t at = answer.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + before.size();
  return answer.substr(begin, answer.find(')', begin) - begin);
}

}  // namespace holdfast::testkit
