#include "survey/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "process_meter.hpp"

namespace survey {
namespace {

double seconds_of_ticks(double ticks) { return ticks / static_cast<double>(sysconf(_SC_CLK_TCK)); }

struct process_times {
  pid_t group = 0;
  double used = 0, used_by_ended_children = 0;  // seconds
};

// Reads the fields after the name, which is in parentheses and may have any characters in it.
process_times times_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  process_times times;
  if (name_end == std::string::npos) return times;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int group = 3, user_time = 12, system_time = 13, last_of_children = 15;
  std::string field;
  for (int i = 1; fields >> field && i <= last_of_children; ++i) {
    if (i == group) times.group = std::stoi(field);
    if (i < user_time) continue;
    (i <= system_time ? times.used : times.used_by_ended_children) +=
        seconds_of_ticks(std::stod(field));
  }
  return times;
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

processor_times::processor_times(const std::vector<pid_t>& of_servers,
                                 const std::vector<pid_t>& of_clients)
    : own(bench::process_cpu_seconds()) {
  for (const pid_t id : of_clients) own += times_of(std::to_string(id)).used;
  for (const pid_t id : of_servers) servers += times_of(std::to_string(id)).used;
  read_machine();
}

processor_times processor_times::of_process_group() {
  processor_times times;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const process_times of_one = times_of(name);
    if (of_one.group == getpgrp()) times.own += of_one.used + of_one.used_by_ended_children;
  }
  times.read_machine();
  return times;
}

void processor_times::read_machine() {
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
