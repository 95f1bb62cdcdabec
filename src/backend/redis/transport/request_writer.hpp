// Writes requests into a buffer. Nothing is allocated once the buffer has its size.
#pragma once
#include <string>

#include "backend/redis/transport/connection.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/script_cache.hpp"

namespace holdfast::redis {

// A call of a script by its text: of those that are rare.
template <std::size_t Keys, class... Arguments>
void eval(std::string& out, const script& s, const std::string_view (&keys)[Keys],
          const Arguments&... arguments) {
  command c(out, 3 + Keys + sizeof...(arguments));
  c << "EVAL" << s.text << static_cast<std::int64_t>(Keys);
  for (const std::string_view key : keys) c << key;
  ((c << arguments), ...);
}

class command_writer {
 public:
  command_writer(std::string& out, script_cache& scripts) noexcept : out_(out), scripts_(scripts) {}

  std::string& out() noexcept { return out_; }
  template <class... Words>
  void plain(const Words&... words) {
    append_command(out_, words...);
  }
  // EVALSHA, or EVAL where the server is known not to have it. The keys and arguments follow.
  command call(const script& s, std::size_t keys, std::size_t arguments) {
    called_ = scripts_.place_of(s);
    command c(out_, 3 + keys + arguments);
    if (scripts_.take_form(s) == script_form::by_hash) {
      c << "EVALSHA" << s.sha1;
    } else {
      c << "EVAL" << s.text;
    }
    c << static_cast<std::int64_t>(keys);
    return c;
  }
  template <std::size_t Keys, class... Arguments>
  void call(const script& s, const std::string_view (&keys)[Keys], const Arguments&... arguments) {
    command c = call(s, Keys, sizeof...(arguments));
    for (const std::string_view key : keys) c << key;
    ((c << arguments), ...);
  }

 protected:
  std::uint16_t called_ = script_cache::none;  // by what is written and not expected yet

 private:
  std::string& out_;
  script_cache& scripts_;
};

// For a connection: whoever writes a request says who receives the reply.
class request_writer : public command_writer {
 public:
  request_writer(connection& to, script_cache& scripts) noexcept
      : command_writer(to.out(), scripts), to_(to) {}
  // For what was written since the last call. Of several replies, the last one counts.
  void expect(reply_handler& to, std::uint32_t replies, time_point sent,
              attended by = attended::by_callers) {
    to_.expect(to, replies, sent, by, std::exchange(called_, script_cache::none));
  }

 private:
  connection& to_;
};

}  // namespace holdfast::redis
