#include "testkit/servers/redis_program.hpp"

#include <chrono>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds start_bound{30};

std::string output_of(std::vector<std::string> argv) {
  const scratch_folder folder;
  run_program({std::move(argv), {}, folder.file("out")});
  return folder.read("out");
}

redis_program inspect() {
  const char* const file = std::getenv("HOLDFAST_TEST_REDIS_SERVER");
  redis_program found{file && *file ? file : "redis-server"};
  const std::string text = output_of({found.file, "--version"});
  std::smatch parts;
  if (!std::regex_search(text, parts, std::regex("(Redis|Valkey) server v=([0-9]+)[.]([0-9]+)")))
    throw std::runtime_error(found.file + " reports no version: " + text);
  found.is_valkey = parts[1] == "Valkey";
  found.major = std::stoi(parts[2]);
  found.minor = std::stoi(parts[3]);
  // Without a certificate no server starts. Only a server that has TLS misses the certificate.
  const std::string refusal = output_of({found.file, "--port", "0", "--tls-port", "1"});
  found.has_tls = refusal.find("tls-cert-file") != std::string::npos &&
                  refusal.find("Bad directive") == std::string::npos;
  return found;
}

}  // namespace

bool redis_program::is_at_least(int wanted_major, int wanted_minor) const noexcept {
  return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

const redis_program& tested_redis() {
  static const redis_program program = inspect();
  return program;
}

std::optional<redis_link> link_once_up(program& started,
                                       const std::function<redis_link()>& connect) {
  std::optional<redis_link> up;
  const auto answers = [&] {
    try {
      redis_link candidate = connect();
      if (candidate.command({"PING"}).text == "PONG") up.emplace(std::move(candidate));
    } catch (const redis_silent&) {}
    return up.has_value();
  };
  started.comes_up(answers, start_bound);
  return up;
}

}  // namespace holdfast::testkit
