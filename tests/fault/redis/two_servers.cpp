#include "two_servers.hpp"

#include <map>
#include <sstream>

namespace holdfast::redis_test {
namespace {

// The value of a field of CLIENT LIST, whose lines have "field=value" between spaces.
std::string field_of(const std::string& line, const std::string& field) {
  const std::size_t at = line.find(' ' + field + '=');
  if (at == line.npos) return {};
  const std::size_t begin = at + field.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

// Each connection of the library names its purpose: "holdfast-commands" and so on.
std::vector<floating_name::open_lane> floating_name::open_at(redis_server& server) const {
  const std::string prefix = "holdfast-";
  std::map<std::string, std::string> purposes;  // by the client's address
  std::istringstream lines(server.command({"CLIENT", "LIST"}).text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = field_of(line, "name");
    if (name.starts_with(prefix)) purposes[field_of(line, "addr")] = name.substr(prefix.size());
  }
  std::vector<open_lane> open;
  for (const testkit::proxied_connection& c : proxy.connections()) {
    const auto known = purposes.find("127.0.0.1:" + std::to_string(c.local_port));
    if (c.target_port == server.port() && known != purposes.end())
      open.push_back({c.number, known->second});
  }
  return open;
}

std::vector<std::string> floating_name::lanes_at(redis_server& server) const {
  std::vector<std::string> lanes;
  for (const open_lane& l : open_at(server)) lanes.push_back(l.purpose);
  return lanes;
}

void floating_name::cut(redis_server& server, const std::string& lane) {
  std::vector<std::uint64_t> meant;
  for (const open_lane& l : open_at(server))
    if (l.purpose == lane) meant.push_back(l.number);
  EXPECT_FALSE(meant.empty()) << "no connection for " << lane << " is open";
  proxy.reset(meant);
}

}  // namespace holdfast::redis_test
