#include "redis/peers.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "child_process.hpp"
#include "testkit/servers/program.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

fs::path scripts() { return fs::path(__FILE__).parent_path().parent_path() / "peers"; }
fs::path packages() { return fs::path(own_program()).parent_path() / "peers"; }

const char* word_for(workload w) {
  switch (w) {
    case workload::own_lock: return "own-lock";
    case workload::own_locks: return "own-locks";
    case workload::one_lock: break;
  }
  return "one-lock";
}

// Returns the number that the script prints; its errors go to a file in the build folder.
double run_script(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw peer_missing("no pipe");
  std::string said;
  int code = 0;
  {
    child_process child(command, ends[1]);
    close(ends[1]);
    char room[256];
    for (ssize_t n; (n = read(ends[0], room, sizeof room)) > 0;)
      said.append(room, static_cast<std::size_t>(n));
    close(ends[0]);
    code = child.wait();
  }
  double figure = 0;
  if (code == 0 && std::sscanf(said.c_str(), "%lf", &figure) == 1) return figure;
  throw peer_missing(command.at(1) + " ended with exit code " + std::to_string(code));
}

// Debian's own python: another one, earlier in PATH, does not have its packages.
double redis_py(int port, const char* work, seconds length) {
  return run_script({"/usr/bin/python3", (scripts() / "redis_py.py").string(), std::to_string(port),
                     work, std::to_string(length.count())});
}

void have_node_packages() {
  const auto folder = packages();
  if (fs::exists(folder / "node_modules" / "redlock")) return;
  if (!holdfast::testkit::is_installed("npm")) throw peer_missing("npm is not installed");
  fs::create_directories(folder);
  fs::copy_file(scripts() / "package.json", folder / "package.json",
                fs::copy_options::overwrite_existing);
  child_process npm({"npm", "install", "--prefix", folder.string(), "--no-audit", "--no-fund",
                     "--silent", "--ignore-scripts"});
  if (npm.wait_for(std::chrono::minutes{2}) != 0) throw peer_missing("npm could not get it");
}

double node_lock(const char* library, const std::string& ports, const char* work, seconds length) {
  have_node_packages();
  setenv("NODE_PATH", (packages() / "node_modules").c_str(), 1);
  return run_script({"node", (scripts() / "node_locks.cjs").string(), library, ports, work,
                     std::to_string(length.count())});
}

}  // namespace

std::vector<peer> redis_peers(int port, workload w) {
  const char* const work = word_for(w);
  const auto node = [port, work](const char* library) {
    return [=](seconds length) { return node_lock(library, std::to_string(port), work, length); };
  };
  return {{"redis-py", [=](seconds length) { return redis_py(port, work, length); }},
          {"redis-semaphore", node("redis-semaphore")},
          {"redlock", node("redlock")}};
}

side redlock_of_node(const std::string& ports) {
  have_node_packages();
  return [ports](seconds length) {
    return outcome{node_lock("redlock", ports, word_for(workload::one_lock), length), {}};
  };
}

}  // namespace bench
