#include "contention/workers.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "contention/worker.hpp"
#include "testkit/broken_pipe.hpp"

namespace holdfast::contention {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds report_glance = 10ms;

}  // namespace

workers::workers(terms t, fault_log& log) : terms_(std::move(t)), log_(log) {}

workers::~workers() {
  for (const worker& one : all_) ::close(one.input);
}

void workers::add() {
  worker one;
  one.name = "w" + std::to_string(added_);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  one.input = pipe[1];
  one.process = std::make_unique<testkit::program>(
      testkit::program_terms{.argv = terms_.command(one.name),
                             .environment = terms_.variables(one.name),
                             .output = terms_.folder + '/' + one.name + ".report",
                             .input_from = pipe[0]});
  ::close(pipe[0]);
  ++added_;
  all_.push_back(std::move(one));
}

std::vector<fault> workers::faults(bool with_cuts) {
  std::vector<fault> all{{"worker.stop", [this](dice& d) { stop_some(d); }},
                         {"worker.stop", [this](dice& d) { stop_some(d); }},
                         {"worker.kill", [this](dice& d) { kill_one(d); }}};
  if (with_cuts) all.push_back({"worker.cut", [this](dice& d) { cut_one(d); }});
  return all;
}

void workers::replace_the_crashed() {
  std::size_t crashed = 0;
  std::erase_if(all_, [&](worker& one) {
    if (one.process->running()) return false;
    complaints_of_the_gone_.push_back(one.name + " crashed: " + report_of(one));
    ::close(one.input);
    return ++crashed, true;
  });
  for (; crashed > 0; --crashed) add();
}

void workers::stop_some(dice& d) {
  replace_the_crashed();
  const auto first = d.below(all_.size()), count = 1 + d.below(all_.size() / 2);
  const auto each = [&](void (testkit::program::*what)()) {
    for (std::size_t i = 0; i < count; ++i) ((*all_[(first + i) % all_.size()].process).*what)();
  };
  each(&testkit::program::stop);
  std::this_thread::sleep_for(d.between(20ms, terms_.longest_stop));
  each(&testkit::program::go_on);
}

void workers::kill_one(dice& d) {
  replace_the_crashed();
  const auto victim = all_.begin() + static_cast<std::ptrdiff_t>(d.below(all_.size()));
  history::record kill;
  kill.process = victim->name;
  kill.lock = "-";
  kill.what = history::operation::kill;
  kill.call = history::history_now();
  victim->process->kill();
  kill.back = history::history_now();
  log_.add(kill);
  std::ranges::move(complaints_of(*victim), std::back_inserter(complaints_of_the_gone_));
  ::close(victim->input);
  all_.erase(victim);
  std::this_thread::sleep_for(d.between(0ms, 300ms));
  add();
}

// A worker that crashes before it receives the letter is replaced at the next fault, or reported by
// finish().
void workers::cut_one(dice& d) {
  replace_the_crashed();
  (void)send(all_[d.below(all_.size())], cut_letter);
}

bool workers::send(const worker& one, char letter) {
  const std::array<char, 2> line = {letter, '\n'};
  const testkit::without_broken_pipe_signal guard;
  return ::write(one.input, line.data(), line.size()) == std::ssize(line);
}

std::string workers::report_of(const worker& one) const {
  std::ifstream file(terms_.folder + '/' + one.name + ".report");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> workers::complaints_of(const worker& one) const {
  std::vector<std::string> found;
  std::istringstream report(report_of(one));
  for (std::string line; std::getline(report, line);)
    if (line.starts_with(complaint_mark))
      found.push_back(one.name + ": " + line.substr(std::string_view(complaint_mark).size()));
  return found;
}

std::vector<std::string> workers::wait_until_recovered(std::chrono::milliseconds bound,
                                                       bool in_order) {
  std::vector<const worker*> waited;  // finish() reports those that have crashed
  for (const worker& one : all_)
    if (send(one, calm_letter)) waited.push_back(&one);
  const std::size_t living = waited.size();
  const auto until = std::chrono::steady_clock::now() + bound;
  const auto has_recovered = [&] {
    return waited.empty() || (!in_order && waited.size() < living);
  };
  while (!has_recovered() && std::chrono::steady_clock::now() < until) {
    std::erase_if(waited, [this](const worker* one) {
      return report_of(*one).find(recovered_mark) != std::string::npos;
    });
    std::this_thread::sleep_for(report_glance);
  }
  std::vector<std::string> found;
  if (has_recovered()) return found;
  for (const worker* one : waited)
    found.push_back(one->name + " was granted no lock within " + std::to_string(bound / 1s) +
                    " s after the faults had ended");
  return found;
}

std::vector<std::string> workers::finish(std::chrono::milliseconds bound) {
  std::vector<std::string> found = std::move(complaints_of_the_gone_);
  for (worker& one : all_) ::close(std::exchange(one.input, -1));
  const auto until = std::chrono::steady_clock::now() + bound;
  for (const worker& one : all_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    const int status = one.process->wait(std::max(left, 1ms));
    if (status < 0) {
      found.push_back(one.name + " did not end within " + std::to_string(bound / 1s) + " s");
      one.process->signal(SIGABRT);
      one.process->wait(10s);
    } else if (status != 0) {
      found.push_back(one.name + " ended with status " + std::to_string(status) + ": " +
                      report_of(one));
    }
    std::ranges::move(complaints_of(one), std::back_inserter(found));
  }
  all_.clear();
  return found;
}

}  // namespace holdfast::contention
