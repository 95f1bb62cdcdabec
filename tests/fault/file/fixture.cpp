#include "tests/fault/file/fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "io/real_environment.hpp"
#include "seam/client_options.hpp"

namespace holdfast::file_test {
namespace {

constexpr std::chrono::seconds bound{30};

}  // namespace

opened_backend open_backend(const std::string& text, base::environment& env) {
  const url where = url::parse(text);
  std::vector<url::option> own;
  const seam::client_options shared = seam::read_client_options(where, own);
  return opened_backend(file::open({where, shared, own, {}, env}));
}

opened_backend open_backend(const std::string& url) {
  return open_backend(url, io::real_environment());
}

std::string error_of_opening(const std::string& url, errc expected) {
  try {
    open_backend(url);
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    return e.what();
  }
  ADD_FAILURE() << url << " was opened";
  return {};
}

opened::opened() : backend_(open_backend(folder.url())) {}

opened::~opened() { backend_->close(base::never); }

contender::contender(seam::lock_store& s, std::string_view name) : claim_(s.open(name, *this)) {}

contender::~contender() = default;

void contender::push(answer a) {
  const std::lock_guard guard(mutex_);
  answers_.push_back(std::move(a));
  changed_.notify_all();
}

void contender::on_granted(const seam::grant& g) { push({answer::kind::granted, g.number, {}}); }
void contender::on_refused(base::failure why) { push({answer::kind::refused, 0, std::move(why)}); }
void contender::on_ended(base::failure why) { push({answer::kind::ended, 0, std::move(why)}); }

bool contender::answered() {
  const std::lock_guard guard(mutex_);
  return !answers_.empty();
}

answer contender::next() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, bound, [&] { return !answers_.empty(); })) {
    ADD_FAILURE() << "no answer came";
    return {};
  }
  answer a = std::move(answers_.front());
  answers_.pop_front();
  return a;
}

answer contender::try_once() { return ask_once({}); }

answer contender::ask_once(seam::acquire_request how) {
  how.one_attempt = true;
  claim_->acquire(how);
  return next();
}

std::int64_t contender::hold() { return get({}); }

std::int64_t contender::get(const seam::acquire_request& how) {
  ask(how);
  const answer a = next();
  EXPECT_EQ(a.what, answer::kind::granted) << a.why.text;
  return a.number;
}

void contender::let_go() {
  claim_->release(nullptr);
  const answer a = next();
  EXPECT_EQ(a.what, answer::kind::ended);
  EXPECT_FALSE(a.why.code);
}

void other_process::line::say(const std::string& text) const {
  const std::string whole = text + '\n';
  EXPECT_EQ(::write(out, whole.data(), whole.size()), static_cast<ssize_t>(whole.size()));
}

std::string other_process::line::hear() const {
  std::string text;
  char c;
  while (::read(in, &c, 1) == 1 && c != '\n') text += c;
  return text;
}

other_process::other_process(const part& body) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    ::close(to[1]);
    ::close(from[0]);
    line mine;
    mine.in = to[0];
    mine.out = from[1];
    body(mine);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(to[0]);
  ::close(from[1]);
  line_.in = from[0];
  line_.out = to[1];
}

other_process::~other_process() {
  kill();
  ::close(line_.in);
  ::close(line_.out);
}

void other_process::stop() {
  int status = 0;
  ::kill(pid_, SIGSTOP);
  EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
  EXPECT_TRUE(WIFSTOPPED(status));
}

void other_process::go_on() { ::kill(pid_, SIGCONT); }

void other_process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

int other_process::wait() {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, 0);
  EXPECT_EQ(ended, pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

other_process::part hold(const std::string& url, const seam::acquire_request& how) {
  return [url, how](const other_process::line& l) {
    const auto store = open_backend(url);
    contender p(*store, "x");
    l.say(std::to_string(p.get(how)));
    l.hear();
    p.let_go();
    store->close(base::never);
  };
}

std::vector<holder> inspect(seam::lock_store& s, std::string_view prefix) {
  struct : seam::holders_handler {
    std::vector<holder> all;
    void on_result(std::vector<holder> h) override { all = std::move(h); }
    void on_failed(base::failure why) override { ADD_FAILURE() << why.text; }
  } answer;
  s.inspect(prefix, answer);
  return std::move(answer.all);
}

base::failure break_lock(seam::lock_store& s, std::string_view name) {
  struct : seam::decision_handler {
    base::failure why;
    void on_result(bool) override { ADD_FAILURE() << "a file lock was broken"; }
    void on_failed(base::failure f) override { why = std::move(f); }
  } answer;
  s.break_lock(name, "whoever", answer);
  return std::move(answer.why);
}

}  // namespace holdfast::file_test
