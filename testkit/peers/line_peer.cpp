#include "testkit/peers/line_peer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <vector>

namespace holdfast::testkit {

struct peer_answers {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int, peer_answer> by_id;
  bool ended = false;
};

namespace {
constexpr std::chrono::minutes answer_bound{1};
}

line_peer::line_peer(const std::vector<std::string>& argv)
    : answers_(std::make_shared<peer_answers>()) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  commands_ = to[1];
  replies_ = from[0];
  program_.emplace(program_terms{.argv = argv,
                                 .output = folder_.file("log"),
                                 .input_from = to[0],
                                 .output_to = from[1]});
  ::close(to[0]);
  ::close(from[1]);
  reader_ = std::jthread([this] { read_answers(); });
}

line_peer::~line_peer() {
  program_->kill();
  reader_.join();
  ::close(commands_);
  ::close(replies_);
}

void line_peer::read_answers() {
  FILE* const in = ::fdopen(::dup(replies_), "r");
  char* text = nullptr;
  std::size_t room = 0;
  for (ssize_t size; (size = ::getline(&text, &room, in)) > 0;) {
    std::istringstream line(std::string(text, static_cast<std::size_t>(size) - 1));
    int id = 0;
    long long ended = 0;
    std::string verdict;
    peer_answer answer;
    line >> id >> ended >> verdict;
    line.get();
    std::getline(line, answer.text);
    answer.ok = verdict == "ok";
    answer.at = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ended));
    const std::lock_guard guard(answers_->mutex);
    answers_->by_id[id] = std::move(answer);
    answers_->changed.notify_all();
  }
  ::free(text);
  ::fclose(in);
  const std::lock_guard guard(answers_->mutex);
  answers_->ended = true;
  answers_->changed.notify_all();
}

line_peer::call line_peer::send(const std::string& command) {
  call made;
  made.answers_ = answers_;
  made.id_ = ++last_id_;
  const std::string line = std::to_string(made.id_) + ' ' + command + '\n';
  if (::write(commands_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "the peer reads no commands");
  return made;
}

bool line_peer::call::pending() const {
  const std::lock_guard guard(answers_->mutex);
  return !answers_->ended && !answers_->by_id.contains(id_);
}

peer_answer line_peer::call::wait() const {
  std::unique_lock lock(answers_->mutex);
  const auto came = [this] { return answers_->ended || answers_->by_id.contains(id_); };
  const bool in_time = answers_->changed.wait_for(lock, answer_bound, came);
  if (const auto at = answers_->by_id.find(id_); at != answers_->by_id.end()) return at->second;
  return {false, in_time ? "the peer has ended" : "no answer came", {}};
}

}  // namespace holdfast::testkit
