#include "cli/job_environment.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace holdfast::cli {
namespace {

constexpr std::string_view ours[] = {"HOLDFAST_URL",     "HOLDFAST_NAME", "HOLDFAST_TOKEN",
                                     "HOLDFAST_EXPIRES", "HOLDFAST_TTL",  "HOLDFAST_STORE",
                                     "HOLDFAST_PID"};

}  // namespace

job_environment::job_environment(std::span<const std::string> secret_variables) {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (std::ranges::find(ours, name) != std::end(ours)) continue;
    if (std::ranges::find(secret_variables, name) != secret_variables.end()) continue;
    inherited_.push_back(*entry);
  }
}

void job_environment::add(std::string_view name, std::string_view value) {
  own_.push_back(std::string(name).append(1, '=').append(value));
}

char** job_environment::get() {
  all_ = inherited_;
  for (std::string& entry : own_) all_.push_back(entry.data());
  all_.push_back(nullptr);
  return all_.data();
}

std::string wall_clock_text(lease_clock::time_point t) {
  using namespace std::chrono;
  const auto wall = system_clock::now() + (t - lease_clock::now());
  const auto ms = floor<milliseconds>(wall).time_since_epoch().count();
  const std::time_t whole = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms % 1000));
  return text;
}

}  // namespace holdfast::cli
