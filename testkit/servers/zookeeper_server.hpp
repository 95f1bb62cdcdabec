// A real ZooKeeper server of a test's own: Debian's, or the one whose jars the environment variable
// HOLDFAST_TEST_ZOOKEEPER_CLASSPATH names.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testkit/servers/certificates.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

struct zookeeper_options {
  // The unit of all its times. It grants session timeouts of 2 to 20 ticks, and ends a session up
  // to one tick late.
  std::chrono::milliseconds tick{200};
  std::string tls{};         // the port speaks TLS with this certificate: "server", "expired" ...
  bool tls_clients = false;  // and requires one of the client
  bool is_measured = false;  // its data is in memory (/dev/shm), and Java compiles as it likes
  bool syncs = false;        // each transaction to the disk
  bool clock_shim = false;   // see set_clock()
  int id = 0;                // in an ensemble (zookeeper_ensemble.hpp), on this port; 0: alone
  int port = 0;              // 0: any that is free
  std::vector<std::string> config{};      // further lines of zoo.cfg
  std::vector<std::string> properties{};  // of the Java machine: "jute.maxbuffer=4096"
  std::string data_folder{};              // an existing folder for its data; "": a temporary one
  std::string writes_classes{};           // when it ends, into this file: see class_archive.hpp
};

// Listens on a free port of 127.0.0.1, keeps its data in a temporary folder, and is killed with the
// object, or with the thread that made it. Throws std::runtime_error with
// the server's log when it does not come up; in an ensemble it does when it takes connections. One
// thread at a time.
class zookeeper_server {
 public:
  explicit zookeeper_server(const zookeeper_options& = {});
  ~zookeeper_server();

  static bool installed();  // else a test says GTEST_SKIP() << not_installed
  static constexpr const char* not_installed =
      "skipped: Debian's libzookeeper-java, libnetty-java or a Java is not installed";

  int port() const noexcept { return port_; }
  std::string url() const;  // "zookeeper://127.0.0.1:PORT", "zookeepers://" with tls
  pid_t pid() const noexcept { return program_->pid(); }
  const certificates& tls_files() const { return *certificates_; }  // only with tls
  std::string log() const { return folder_.read("log"); }

  void stop() { program_->stop(); }    // SIGSTOP
  void go_on() { program_->go_on(); }  // SIGCONT
  void kill_hard();                    // SIGKILL
  void start();                        // after kill_hard(): with the same data, on the same port
  bool running() { return program_ && program_->running(); }
  // Restarts it with a count of creations in the parent of `child`, a node that was created since
  // it was started last.
  void set_created(const std::string& child, std::int32_t count);
  // Its wall clock, beside ours; with clock_shim alone.
  void set_clock(std::chrono::milliseconds offset) { shim_->set_offset(offset); }

  // The answer to an administrator's word ("srvr", "cons", "dump"); empty: none. Not with tls.
  std::string ask(const std::string& word) const;
  // The reported mode: "standalone", "leader", "follower", "observer"; empty: it does not serve.
  std::string mode() const;
  // The number of sessions that it reports; "": no reply.
  std::string sessions() const;

 private:
  std::string data() const;
  void write_config() const;
  std::vector<std::string> command_line() const;
  std::string class_words() const;
  bool comes_up();
  std::string ask_within(const std::string& word, std::chrono::milliseconds silence) const;

  zookeeper_options options_;
  scratch_folder folder_{options_.is_measured ? "/dev/shm" : "/tmp"};
  int port_ = 0;
  std::optional<certificates> certificates_;
  std::optional<clock_shim> shim_;
  std::optional<program> program_;
};

}  // namespace holdfast::testkit
