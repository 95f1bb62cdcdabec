// Threads that play, each through one of some clients, from here until they are ended.
#pragma once
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "participant.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace stress {

class troupe {
 public:
  troupe(const std::vector<std::string>& urls, std::size_t threads_each, const casting&,
         std::uint64_t seed);
  ~troupe() { end(); }
  troupe(const troupe&) = delete;
  troupe& operator=(const troupe&) = delete;

  const std::deque<holdfast::client>& clients() const noexcept { return clients_; }
  std::uint64_t plays() const noexcept { return plays_; }  // of all of them so far
  void end();                                              // the threads, then the clients
  std::vector<holdfast::history::record> history() const;

 private:
  holdfast::testkit::scratch_folder folder_;
  holdfast::history::history_writer writer_{folder_.file("history")};
  guarded_resource resource_;
  std::deque<holdfast::client> clients_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> plays_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace stress
