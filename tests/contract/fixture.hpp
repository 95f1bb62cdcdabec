// The fixture of a behaviour: one fresh store, and other clients of its locks.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "contender.hpp"
#include "modes.hpp"
#include "process/any_lock.hpp"
#include "subject.hpp"
#include "testkit/thrown_by.hpp"

namespace contract {

enum class place : unsigned char { threads, processes };

class fixture {
 public:
  fixture(const subject_under_test& on, place where, mode as)
      : on_(on), where_(where), mode_(as), store_(on.make(on.options)) {}

  const holdfast::features& can() const { return on_.can; }
  bool has_ttl() const { return on_.has_ttl(); }
  bool has_deadlines() const { return on_.has_deadlines(); }
  // Whether this token is later than that one; always where leases have none.
  bool is_later(std::int64_t token, std::int64_t than) const {
    return !on_.has_tokens || token > than;
  }
  bool has_tokens() const { return on_.has_tokens; }
  bool downgrades() const { return on_.downgrades; }
  bool has_readers() const { return on_.modes.has(mode::shared); }
  bool prefers_writers() const { return on_.prefers_writers; }
  subject& store() { return *store_; }
  holdfast::client client() const { return holdfast::client::open(store_->url()); }
  holdfast::client short_lived_client() const {
    return holdfast::client::open(store_->short_lived_url());
  }

  holdfast::client client_with(const std::string& options) const {
    return holdfast::client::open(with_options(store_->url(), options));
  }

  // The lock that the behaviour is about, and one that it excludes.
  any_lock lock(const holdfast::client& c, std::string_view name = "job") const {
    return {c, name, own_kind()};
  }
  any_lock rival(const holdfast::client& c, std::string_view name = "job") const {
    return {c, name, rival_kind()};
  }

  holdfast::lock_mode taken_as() const;  // lock(), as list() shows it

  // Somebody with a client of his own, in a thread or in a process, as the case is played. His
  // locks are rivals, if the command does not say another kind; those of a peer are as lock()'s.
  std::unique_ptr<contender> other() { return enter(store_->url(), rival_kind()); }
  std::unique_ptr<contender> short_lived_other() {
    return enter(store_->short_lived_url(), rival_kind());
  }
  std::unique_ptr<contender> peer() { return enter(store_->url(), own_kind()); }
  std::unique_ptr<contender> short_lived_peer() {
    return enter(store_->short_lived_url(), own_kind());
  }

 private:
  kind own_kind() const;
  kind rival_kind() const;
  std::unique_ptr<contender> enter(const std::string& url, kind as) {
    auto one = where_ == place::threads ? make_thread_contender(*store_) : make_process_contender();
    const auto answer = one->ask("open " + url + " " + std::string(word_of(as)));
    if (answer != "ok") throw std::runtime_error("the other cannot open " + url + ": " + answer);
    return one;
  }

  const subject_under_test& on_;
  place where_;
  mode mode_;
  std::unique_ptr<subject> store_;
};

// The result of list() once it has this many entries: a store may learn of a holder by its first
// renewal.
std::vector<holdfast::holder> shown_by(const holdfast::client& client, std::size_t many);

// A thread of the suite that makes one call, which may wait.
template <class Result>
class caller {
 public:
  explicit caller(std::function<Result()> call) {
    std::promise<pid_t> id;
    auto known = id.get_future();
    std::packaged_task<answer()> task([call = std::move(call)]() -> answer {
      try {
        return call();
      } catch (const holdfast::lock_error& error) {
        return error.code();
      }
    });
    result_ = task.get_future();
    thread_ = std::jthread([id = std::move(id), task = std::move(task)]() mutable {
      id.set_value(::gettid());
      task();
    });
    id_ = known.get();
  }

  bool waits() const { return falls_asleep(::getpid(), id_) && !done(); }
  bool done() const {
    return result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  bool comes_back() const { return result_.wait_for(generous) == std::future_status::ready; }
  Result result() {  // once; throws the error that the call threw
    auto got = result_.get();
    if (const auto* const code = std::get_if<std::error_code>(&got))
      throw holdfast::lock_error(*code, {});
    return std::get<Result>(std::move(got));
  }

 private:
  using answer = std::variant<Result, std::error_code>;  // an exception is not shared by threads

  std::future<answer> result_;
  pid_t id_ = 0;
  std::jthread thread_;
};

// True once the token's stop is requested; false when that does not come.
bool comes(const std::stop_token&);
// True once the condition holds; false when that does not come.
bool becomes(const std::function<bool()>& condition);
// Whether an attempt of the contender finds the lock busy. What it gets otherwise it gives back.
bool finds_busy(contender&, const std::string& lock);
// The token of "granted TOKEN", 1 where the store has none; else 0.
std::int64_t token_of(const std::string& answer);
using holdfast::testkit::thrown_by;

}  // namespace contract
