#include "redis/fixture.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "redis/bare_limits.hpp"

namespace bench {
namespace {

// A script's own commands are counted by the server like those of clients, so only what no script
// calls is added up. A transaction of an acquire has two commands inside, SET and INCR.
constexpr std::string_view of_clients[] = {"evalsha", "eval",  "multi", "subscribe",
                                           "ping",    "blpop", "rpush"};
constexpr std::string_view transaction = "exec";
constexpr std::uint64_t in_a_transaction = 3;  // EXEC too

std::uint64_t weight_of(std::string_view command) {
  if (command == transaction) return in_a_transaction;
  for (const auto one : of_clients)
    if (command == one) return 1;
  return 0;
}

}  // namespace

void need_redis_server() {
  if (!holdfast::testkit::redis_server::installed())
    throw std::runtime_error(holdfast::testkit::redis_server::not_installed);
}

redis_fixture::redis_fixture()
    : server_([] {
        need_redis_server();
        return holdfast::testkit::redis_options{};
      }()) {}

void redis_fixture::lay_out_token() {
  server_.command({"DEL", token_list});
  server_.command({"RPUSH", token_list, "t"});
}

std::uint64_t redis_fixture::requests() {
  constexpr std::string_view start = "cmdstat_", calls = ":calls=";
  std::istringstream lines(server_.command({"INFO", "commandstats"}).text);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(calls);
    if (!line.starts_with(start) || at == std::string::npos) continue;
    std::uint64_t n = 0;
    const auto digits = at + calls.size();
    std::from_chars(line.data() + digits, line.data() + line.size(), n);
    sum += n * weight_of(std::string_view(line).substr(start.size(), at - start.size()));
  }
  return sum;
}

std::uint64_t commands_of(holdfast::testkit::redis_server& server) {
  constexpr std::string_view field = "total_commands_processed:";
  const std::string all = server.command({"INFO", "stats"}).text;
  const auto at = all.find(field);
  if (at == std::string::npos) throw std::runtime_error("the server does not count its commands");
  std::uint64_t n = 0;
  std::from_chars(all.data() + at + field.size(), all.data() + all.size(), n);
  return n;
}

double redis_fixture::cpu_seconds() {
  const std::string all = server_.command({"INFO", "cpu"}).text;
  double sum = 0;
  for (const std::string_view field : {"used_cpu_user:", "used_cpu_sys:"}) {
    const auto at = all.find(field);
    if (at == std::string::npos) throw std::runtime_error("the server does not tell its CPU time");
    sum += std::stod(all.substr(at + field.size()));
  }
  return sum;
}

}  // namespace bench
