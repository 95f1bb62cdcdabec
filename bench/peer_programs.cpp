#include "peer_programs.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "child_process.hpp"
#include "data_folder.hpp"
#include "testkit/servers/program.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;
using holdfast::testkit::is_installed;

constexpr std::chrono::minutes fetch_bound{4};
constexpr int no_figure = -1;

fs::path peer_sources() { return fs::path(data_folder()) / "peers"; }
fs::path peer_packages() { return writable_folder() / "peers"; }

const char* word_for(workload w) {
  switch (w) {
    case workload::own_lock: return "own-lock";
    case workload::own_locks: return "own-locks";
    case workload::one_lock: break;
  }
  return "one-lock";
}

struct program_output {
  int code = no_figure;
  std::string text;
};

program_output output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw peer_missing("no pipe");
  program_output output;
  child_process child(command, ends[1]);
  close(ends[1]);
  char room[256];
  for (ssize_t n; (n = read(ends[0], room, sizeof room)) > 0;)
    output.text.append(room, static_cast<std::size_t>(n));
  close(ends[0]);
  output.code = child.wait();
  return output;
}

// Returns the number that the program prints; its errors go to standard error.
double figure_of(const std::string& library, const std::vector<std::string>& command) {
  const auto [code, text] = output_of(command);
  double figure = 0;
  if (code == 0 && std::sscanf(text.c_str(), "%lf", &figure) == 1) return figure;
  throw peer_missing("the program of " + library + " ended with exit code " + std::to_string(code));
}

// Runs the command that fetches or builds packages, with its output in a log file.
void fetch(const std::vector<std::string>& command, const fs::path& log, const std::string& what) {
  std::vector<std::string> logged{"sh", "-c", "exec \"$@\" >'" + log.string() + "' 2>&1", "sh"};
  logged.insert(logged.end(), command.begin(), command.end());
  child_process child(logged);
  if (child.wait_for(fetch_bound) != 0)
    throw peer_missing(what + " is not available (" + log.string() + ")");
}

void copy_newer(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to, fs::copy_options::update_existing);
}

fs::path node_packages() {
  const auto folder = peer_packages();
  if (fs::exists(folder / "node_modules" / "redlock")) return folder / "node_modules";
  if (!is_installed("npm")) throw peer_missing("npm is not installed");
  fs::create_directories(folder);
  copy_newer(peer_sources() / "package.json", folder / "package.json");
  fetch({"npm", "install", "--prefix", folder.string(), "--no-audit", "--no-fund", "--silent",
         "--ignore-scripts"},
        folder / "npm.log", "the package for node");
  return folder / "node_modules";
}

// Builds the program where it is missing or older than its sources.
fs::path go_program() {
  const auto folder = peer_packages() / "go";
  auto program = folder / "locks";
  if (!is_installed("go")) throw peer_missing("go is not installed");
  fs::create_directories(folder);
  bool is_current = fs::exists(program);
  for (const auto& source : fs::directory_iterator(peer_sources() / "go")) {
    is_current = is_current && fs::last_write_time(source) <= fs::last_write_time(program);
    copy_newer(source.path(), folder / source.path().filename());
  }
  if (!is_current)
    fetch({"env", "-C", folder.string(), "go", "build", "-o", program.string(), "."},
          folder / "go.log", "the module for Go");
  return program;
}

std::string text_of(seconds length) { return std::to_string(length.count()); }

}  // namespace

// Debian's own Python: another one, earlier in PATH, does not have its packages.
peer python_lock(const std::string& library, const std::string& port, workload w) {
  return {library, [=](seconds length) {
            return figure_of(library, {"/usr/bin/python3", peer_sources() / "python_locks.py",
                                       library, port, word_for(w), text_of(length)});
          }};
}

peer node_lock(const std::string& library, const std::string& ports, workload w) {
  return {library, [=](seconds length) {
            setenv("NODE_PATH", node_packages().c_str(), 1);
            return figure_of(library, {"node", peer_sources() / "node_locks.cjs", library, ports,
                                       word_for(w), text_of(length)});
          }};
}

peer go_lock(const std::string& library, const std::string& ports, workload w) {
  return {library, [=](seconds length) {
            return figure_of(library, {go_program(), library, ports, word_for(w), text_of(length)});
          }};
}

peer etcd_mutex(workload w) {
  peer without_server = go_lock("etcd", "0", w);
  return {"etcd's Mutex, synced to the disk", [run = without_server.run](seconds length) {
            if (!is_installed("etcd")) throw peer_missing("etcd-server is not installed");
            return run(length);
          }};
}

void need_node_locks() { (void)node_packages(); }

}  // namespace bench
