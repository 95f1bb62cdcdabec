#include "survey/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "process_meter.hpp"

namespace survey {
namespace {

double seconds_of_ticks(double ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); }

// The fields after the name, which is in parentheses and may have any characters in it.
double seconds_of_process(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int user_time = 12, system_time = 13;
  double sum = 0;
  std::string field;
  for (int i = 1; fields >> field && i <= system_time; ++i)
    if (i == user_time || i == system_time) sum += std::stod(field);
  return seconds_of_ticks(sum);
}

std::string value_in(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::string value = line.substr(std::min(line.find_first_of(":=") + 1, line.size()));
    std::erase(value, '"');
    return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
  }
  return "unknown";
}

}  // namespace

processor_times::processor_times(const std::vector<pid_t>& of_servers)
    : own(bench::process_cpu_seconds()) {
  for (const pid_t id : of_servers) servers += seconds_of_process(id);
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  constexpr int idle = 3, io_wait = 4, fields = 8;
  double value = 0;
  for (int i = 0; i < fields && file >> value; ++i) {
    all += seconds_of_ticks(value);
    if (i != idle && i != io_wait) busy += seconds_of_ticks(value);
  }
}

double processor_times::share_of_others(const processor_times& earlier) const {
  const double others = (busy - earlier.busy) - (own - earlier.own) - (servers - earlier.servers);
  const double passed = all - earlier.all;
  return passed > 0 ? std::clamp(others / passed, 0.0, 1.0) : 0;
}

machine machine::here() {
  machine m;
  m.processor = value_in("/proc/cpuinfo", "model name");
  m.system = value_in("/etc/os-release", "PRETTY_NAME");
  utsname u{};
  uname(&u);
  m.kernel = u.release;
  m.processors = std::thread::hardware_concurrency();
  return m;
}

}  // namespace survey
