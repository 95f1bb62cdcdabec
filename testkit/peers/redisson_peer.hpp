// The real Redisson, in a JVM of its own: the other party of a test or a benchmark.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

struct peer_answer {
  bool ok = false;
  std::string text;                            // the result, or the exception's name and text
  std::chrono::steady_clock::time_point at{};  // when the command ended, by the JVM's clock: ours
};

// Its commands are described in redisson/RedissonPeer.java: "CLIENT THREAD VERB WORD...". Killed
// with the object, or with the thread that made it. One thread at a time; calls may go to others.
class redisson_peer {
 public:
  // Empty when Redisson can be had here, else "skipped: ..." and the reason. The first call fetches
  // it from Maven Central into the build folder.
  static const std::string& unavailable();

  static std::string class_path();  // of Redisson and of its driver, once it was fetched

  // A test wants a JVM that starts fast, a benchmark one that compiles for speed.
  enum class tuning : unsigned char { quick_start, full_speed };
  explicit redisson_peer(tuning = tuning::quick_start);  // throws std::system_error
  ~redisson_peer();
  redisson_peer(const redisson_peer&) = delete;
  redisson_peer& operator=(const redisson_peer&) = delete;

  // A command under way.
  class call {
   public:
    bool pending() const;
    peer_answer wait() const;  // not ok when none comes within a minute, or the JVM has ended

   private:
    friend redisson_peer;
    std::shared_ptr<struct peer_answers> answers_;
    int id_ = 0;
  };
  call send(const std::string& command);
  peer_answer ask(const std::string& command) { return send(command).wait(); }
  std::string log() const { return folder_.read("log"); }

 private:
  void read_answers();

  scratch_folder folder_;
  std::shared_ptr<peer_answers> answers_;
  int commands_ = -1, replies_ = -1;  // descriptors
  int last_id_ = 0;
  std::optional<program> program_;
  std::jthread reader_;
};

}  // namespace holdfast::testkit
