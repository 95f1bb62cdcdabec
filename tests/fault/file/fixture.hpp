// A lock directory of its own for a test, and the seam of the file backend driven directly.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/file/backend.hpp"
#include "base/environment.hpp"
#include "seam/backend.hpp"
#include "testkit/eventually.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::file_test {

using testkit::eventually;

// Removed with all that is in it.
class lock_folder {
 public:
  const std::filesystem::path& path() const noexcept { return folder_.path(); }
  std::string url() const { return "file://" + path().string(); }
  std::filesystem::path file(std::string_view name) const { return path() / name; }

 private:
  testkit::scratch_folder folder_;
};

// An opened backend: its lock store, and its connection.
class opened_backend {
 public:
  explicit opened_backend(seam::backend b) noexcept : backend_(std::move(b)) {}

  seam::lock_store& operator*() const noexcept { return backend_.stores.first(); }
  seam::connection* operator->() const noexcept { return backend_.connection.get(); }

 private:
  seam::backend backend_;
};

opened_backend open_backend(const std::string& url);
opened_backend open_backend(const std::string& url, base::environment&);
// The error of an opening that fails; empty with a test failure when it does not.
std::string error_of_opening(const std::string& url, errc expected);

// A lock directory with its backend, which is closed at the end.
class opened {
 public:
  opened();
  ~opened();
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;

  seam::lock_store& operator*() const noexcept { return *backend_; }

  const lock_folder folder;

 private:
  const opened_backend backend_;
};

struct answer {
  enum class kind : unsigned char { granted, refused, ended, none } what = kind::none;
  std::int64_t number = 0;
  base::failure why;
};

// One claim and what its backend says to it.
class contender final : private seam::claim_sink {
 public:
  contender(seam::lock_store&, std::string_view name);
  ~contender();

  seam::claim& claim() noexcept { return *claim_; }
  void acquire(std::string_view note = {}) { claim_->acquire({.note = note}); }
  void ask(const seam::acquire_request& how) { claim_->acquire(how); }
  answer ask_once(seam::acquire_request how);          // one attempt
  std::int64_t get(const seam::acquire_request& how);  // acquires; the number
  void cancel() { claim_->cancel(); }
  bool answered();
  answer next();        // waits for it, at most half a minute
  answer try_once();    // one attempt
  std::int64_t hold();  // acquires; the number
  void let_go();        // releases and sees it ended

 private:
  void on_granted(const seam::grant&) override;
  void on_refused(base::failure) override;
  void on_extended(base::time_point, std::uint32_t) override {}
  void on_doubtful() override {}
  void on_lost(std::error_code) override {}
  void on_contended() override {}
  void on_ended(base::failure) override;
  void push(answer);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<answer> answers_;
  std::unique_ptr<seam::claim> claim_;
};

inline seam::acquire_request share() { return {.mode = lock_mode::shared}; }
inline seam::acquire_request permits(std::uint32_t count, std::uint32_t of) {
  return {.mode = lock_mode::permit, .permits = count, .total_permits = of};
}

// Another process: a fork of this one that runs `body` and ends. It says lines and hears them.
class other_process {
 public:
  class line {
   public:
    void say(const std::string&) const;
    std::string hear() const;  // empty: the other side is gone
    int in = -1, out = -1;
  };
  using part = std::function<void(const line&)>;
  explicit other_process(const part& body);
  ~other_process();  // kills it
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  void say(const std::string& text) const { line_.say(text); }
  std::string hear() const { return line_.hear(); }
  void stop();  // returns when it is stopped
  void go_on();
  void kill();
  int wait();  // its exit code, or -1
  pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  line line_;
};

// For another process: takes what is asked for of the lock "x", says its number, and keeps it until
// it hears a line.
other_process::part hold(const std::string& url, const seam::acquire_request&);

std::vector<holder> inspect(seam::lock_store&, std::string_view prefix = {});
base::failure break_lock(seam::lock_store&, std::string_view name);

}  // namespace holdfast::file_test
