// One participant that does what it is told, a line at a time: the same in a thread of the suite
// and in a process of its own (main.cpp).
//
//   open URL [KIND]          -> ok; KIND is what its locks are, if they do not say: mutex
//   acquire LOCK [MS]        -> calling, then granted TOKEN | busy; without MS it waits for ever
//   try LOCK                 -> granted TOKEN | busy
//   campaign ELECTION VALUE  -> granted TOKEN | busy; one attempt
//   release LOCK             -> ok
//   unlock LOCK              -> ok
//   held LOCK                -> yes | no
//   owner LOCK               -> the owner as the store has it
//   downgrade LOCK           -> ok; of a writer
//   count LOCK TIMES FILE    -> ok | two inside; adds 1 to FILE that often, each time under LOCK
//   close                    -> ok
//
// A verb that throws is answered by "broken: " and what() of it. A lock is "NAME", "KIND:NAME" or,
// of a semaphore, "2of5:NAME" (any_lock.hpp), without spaces.
#pragma once
#include <fcntl.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "any_lock.hpp"

namespace contract {

class actor {
 public:
  using answer = std::function<void(const std::string&)>;

  void obey(const std::string& line, const answer& say) {
    try {
      std::istringstream words(line);
      std::string verb, object;
      words >> verb >> object;
      carry_out(verb, object, words, say);
    } catch (const std::exception& error) {
      say(std::string("broken: ") + error.what());
    }
  }

  // From any thread: the wait that is under way ends, and all later ones.
  void end_waits() noexcept { stop_.request_stop(); }
  // Once "open" was answered. The client outlives close.
  const holdfast::client& client() const { return client_.value(); }

 private:
  void carry_out(const std::string& verb, const std::string& object, std::istream& more,
                 const answer& say) {
    if (verb == "open") {
      open(object, more);
      say("ok");
    } else if (verb == "acquire") {
      acquire(object, more, say);
    } else if (verb == "try") {
      keep(object, lock(object).try_acquire(), say);
    } else if (verb == "campaign") {
      campaign(object, more, say);
    } else if (verb == "release") {
      leases_[object].release();
      say("ok");
    } else if (verb == "unlock") {
      leases_[object].unlock();
      say("ok");
    } else if (verb == "held") {
      say(leases_[object].held() ? "yes" : "no");
    } else if (verb == "owner") {
      say(leases_[object].owner());
    } else if (verb == "downgrade") {
      downgrade(object);
      say("ok");
    } else if (verb == "count") {
      count(object, more, say);
    } else if (verb == "close") {
      client_.value().close();
      say("ok");
    } else {
      say("broken: no such verb: " + verb);
    }
  }

  void open(const std::string& url, std::istream& more) {
    std::string word;
    if (more >> word) usual_ = kind_of(word);
    client_ = holdfast::client::open(url);
  }

  any_lock& lock(const std::string& spec) {
    const auto found = locks_.find(spec);
    if (found != locks_.end()) return found->second;
    return locks_.try_emplace(spec, lock_of(client(), spec, usual_)).first->second;
  }

  void downgrade(const std::string& spec) {
    const auto name = spec.substr(spec.find(':') + 1);
    auto& lease = leases_[spec];
    lease = client().shared_mutex(name).downgrade(std::move(lease));
  }

  void keep(const std::string& name, holdfast::lease got, const answer& say) {
    const auto token = got.token();
    const bool granted = static_cast<bool>(got);
    if (granted) leases_[name] = std::move(got);
    say(granted ? "granted " + std::to_string(token) : "busy");
  }

  void campaign(const std::string& name, std::istream& more, const answer& say) {
    std::string value;
    more >> value;
    const auto& term =
        elections_.try_emplace(name, client(), name).first->second.try_campaign(value);
    say(term ? "granted " + std::to_string(term.token()) : "busy");
  }

  void acquire(const std::string& name, std::istream& more, const answer& say) {
    auto& wanted = lock(name);
    std::int64_t ms = 0;
    const bool bounded = static_cast<bool>(more >> ms);
    say("calling");
    if (bounded)
      keep(name, wanted.try_acquire_for(std::chrono::milliseconds(ms), {}, stop_.get_token()), say);
    else
      keep(name, wanted.acquire({}, stop_.get_token()), say);
  }

  // The file has two numbers: who is inside (0: nobody), and the count.
  void count(const std::string& name, std::istream& more, const answer& say) {
    int times = 0;
    std::string path;
    more >> times >> path;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    bool alone = file >= 0;
    auto& guard = lock(name);
    for (; times > 0 && alone; --times) {
      const auto held = guard.acquire({}, stop_.get_token());
      std::int64_t words[2] = {};
      alone = ::pread(file, words, sizeof words, 0) == sizeof words && words[0] == 0;
      words[0] = held.token();
      alone = alone && ::pwrite(file, words, sizeof words, 0) == sizeof words;
      std::this_thread::yield();
      std::int64_t after[2] = {};
      alone = alone && ::pread(file, after, sizeof after, 0) == sizeof after;
      alone = alone && after[0] == words[0] && after[1] == words[1];
      words[0] = 0;
      ++words[1];
      alone = alone && ::pwrite(file, words, sizeof words, 0) == sizeof words;
    }
    if (file >= 0) ::close(file);
    say(alone ? "ok" : "two inside");
  }

  std::stop_source stop_;
  std::optional<holdfast::client> client_;
  kind usual_ = kind::mutex;
  std::map<std::string, any_lock> locks_;
  std::map<std::string, holdfast::lease> leases_;
  std::map<std::string, holdfast::election> elections_;
};

}  // namespace contract
