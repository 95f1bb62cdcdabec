// A client of the naive locks: single commands, one after the other.
#pragma once
#include <chrono>
#include <string>

#include "testkit/servers/redis_server.hpp"

namespace holdfast::lab {

inline constexpr const char* lock_name = "lock";  // in every story

class naive_redis {
 public:
  explicit naive_redis(const testkit::redis_server& s) : link_(s.link()) {}

  bool setnx(const std::string& value) { return number({"SETNX", lock_name, value}) == 1; }
  bool set_nx_px(const std::string& value, std::chrono::milliseconds ttl) {
    return !link_.command({"SET", lock_name, value, "NX", "PX", std::to_string(ttl.count())})
                .is_nil();
  }
  std::string getset(const std::string& value) {
    return link_.command({"GETSET", lock_name, value}).text;
  }
  std::string get() { return link_.command({"GET", lock_name}).text; }
  bool del() { return number({"DEL", lock_name}) == 1; }
  bool is_free() { return number({"EXISTS", lock_name}) == 0; }
  long long pttl() { return number({"PTTL", lock_name}); }
  testkit::redis_reply command(const std::vector<std::string>& words) {
    return link_.command(words);
  }

 private:
  long long number(const std::vector<std::string>& words) { return link_.command(words).number; }

  testkit::redis_link link_;
};

}  // namespace holdfast::lab
