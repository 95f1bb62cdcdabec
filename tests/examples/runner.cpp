// runner BACKEND PROGRAM: runs an example with the URL of locks that nobody else uses, and exits as
// it does; with 77 when the backend's server is not installed.
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"
#ifdef HOLDFAST_WITH_MYSQL
#include "testkit/servers/mariadb_server.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "testkit/servers/zookeeper_server.hpp"
#endif

namespace {

using holdfast::testkit::program;

constexpr int not_installed = 77;

int run(const std::string& example, const std::string& url) {
  program p({.argv = {example, url}});
  const int code = p.wait(std::chrono::seconds{100});
  if (code == -1) std::fprintf(stderr, "it does not come to its end\n");
  return code == -1 ? 1 : code;
}

int run_on(const std::string& backend, const std::string& example) {
  if (backend == "default") return run(example, "file:");
  if (backend == "memory") return run(example, "memory:example");
  if (backend == "file") {
    const holdfast::testkit::scratch_folder folder;
    return run(example, "file://" + folder.path().string());
  }
#ifdef HOLDFAST_WITH_MYSQL
  if (backend == "mysql") {
    if (!holdfast::testkit::mariadb_server::installed()) return not_installed;
    const holdfast::testkit::mariadb_server server;
    return run(example, server.url());
  }
#endif
#ifdef HOLDFAST_WITH_REDIS
  if (backend == "redis") {
    if (!holdfast::testkit::redis_server::installed()) return not_installed;
    const holdfast::testkit::redis_server server;
    return run(example, server.url());
  }
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  if (backend == "zookeeper") {
    if (!holdfast::testkit::zookeeper_server::installed()) return not_installed;
    const holdfast::testkit::zookeeper_server server;
    return run(example, server.url());
  }
#endif
  throw std::runtime_error("the examples do not know the backend " + backend);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("runner BACKEND PROGRAM");
  return run_on(argv[1], argv[2]);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
