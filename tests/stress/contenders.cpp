#include "contenders.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace stress {

using namespace std::chrono_literals;
using holdfast::history::history_now;
using holdfast::history::history_writer;
using holdfast::history::operation;
using holdfast::history::record;

contenders::contenders(std::uint64_t seed, std::string url, int threads, casting cast)
    : numbers_(seed),
      url_(std::move(url)),
      threads_(threads),
      cast_(std::move(cast)),
      report_(folder_.file("of-the-killer")) {
  void* const place = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  shared_ = new (place) shared_state;
}

contenders::~contenders() { ::munmap(shared_, sizeof(shared_state)); }

bool contenders::harass(const harassment& how, const judge& enough) {
  for (int i = 0; i < how.processes; ++i) add();
  for (int n = 0; n < how.kills || (n < 10 * how.kills && !enough(history())); ++n) {
    std::this_thread::sleep_for(how.apart);
    pause_one(how.longest_pause);
    kill_one();
    add();
  }
  return finish();
}

void contenders::add() {
  const auto seed = numbers_();
  const pid_t child = ::fork();
  if (child == 0) run(seed);
  all_.push_back(child);
}

void contenders::kill_one() {
  const auto victim = any();
  record r;
  r.process = std::to_string(*victim);
  r.lock = "-";
  r.what = operation::kill;
  r.call = history_now();
  ::kill(*victim, SIGKILL);
  ::waitpid(*victim, nullptr, 0);
  r.back = history_now();
  report_.add(r);
  all_.erase(victim);
}

void contenders::pause_one(std::chrono::milliseconds longest) {
  const pid_t one = *any();
  ::kill(one, SIGSTOP);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(numbers_() % static_cast<std::uint64_t>(longest.count())));
  ::kill(one, SIGCONT);
}

bool contenders::finish() {
  shared_->over = true;
  bool well = true;
  const auto until = std::chrono::steady_clock::now() + 90s;
  for (const pid_t one : all_) {
    int status = 0;
    while (::waitpid(one, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > until) ::kill(one, SIGKILL);
      std::this_thread::sleep_for(1ms);
    }
    well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return well;
}

std::vector<record> contenders::history() const {
  std::vector<record> all;
  for (const auto& one : std::filesystem::directory_iterator(folder_.path())) {
    auto part = holdfast::history::read_history(one.path());
    std::ranges::move(part.records, std::back_inserter(all));
  }
  return all;
}

std::vector<pid_t>::iterator contenders::any() {
  return all_.begin() + static_cast<std::ptrdiff_t>(numbers_() % all_.size());
}

void contenders::run(std::uint64_t seed) {
  const auto me = std::to_string(::getpid());
  history_writer writer(folder_.file(me));
  {
    const auto client = holdfast::client::open(url_);
    std::vector<std::jthread> all;
    for (int i = 0; i < threads_; ++i) {
      all.emplace_back([&, i] {
        const auto one = cast_(client, me + "." + std::to_string(i), writer, shared_->resource,
                               seed + static_cast<std::uint64_t>(i));
        while (!shared_->over) one->play();
      });
    }
  }
  ::_exit(0);
}

}  // namespace stress
