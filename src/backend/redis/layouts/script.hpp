// A Lua script of a layout, as it is called.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/redis/transport/resp.hpp"

namespace holdfast::redis {

struct script {
  std::string_view text;
  std::string_view sha1;  // 40 hexadecimal digits
};

// By its hash, or, when the server does not know that, by its text.
enum class script_form : unsigned char { hash, text };

// The begin of a call: the keys and then the arguments are to be appended, as many as announced.
inline command script_call(std::string& out, const script& s, script_form form, std::size_t keys,
                           std::size_t arguments) {
  command c(out, 3 + keys + arguments);
  if (form == script_form::hash) {
    c << "EVALSHA" << s.sha1;
  } else {
    c << "EVAL" << s.text;
  }
  c << static_cast<std::int64_t>(keys);
  return c;
}

}  // namespace holdfast::redis
