#include "survey/versions.hpp"

#include <holdfast/version.hpp>

#include <cstdio>
#include <memory>

namespace survey {
namespace {

std::string first_line_of(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command, "r"), pclose);
  char line[256] = "";
  if (!output || !std::fgets(line, sizeof line, output.get())) return {};
  std::string text = line;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

constexpr std::pair<const char*, const char*> commands[] = {
    {"redis-server", "redis-server --version 2>/dev/null | sed 's/.*v=\\([^ ]*\\).*/\\1/'"},
    {"mariadbd", "mariadbd --version 2>/dev/null | sed 's/.*Ver \\([^ ]*\\).*/\\1/'"},
    {"zookeeper", "dpkg-query -W -f='${Version}' libzookeeper-java 2>/dev/null"},
    {"java", "java -version 2>&1 | sed -n 's/.*version \"\\([^\"]*\\)\".*/\\1/p'"},
};

}  // namespace

std::vector<std::pair<std::string, std::string>> versions_here() {
  std::vector<std::pair<std::string, std::string>> all{{"holdfast", HOLDFAST_VERSION}};
  for (const auto& [name, command] : commands)
    if (std::string version = first_line_of(command); !version.empty())
      all.emplace_back(name, std::move(version));
  return all;
}

std::string without_password(const std::string& url) {
  const auto begin = url.find("://"), end = url.find('@');
  if (begin == std::string::npos || end == std::string::npos) return url;
  return url.substr(0, begin + 3) + url.substr(end + 1);
}

}  // namespace survey
