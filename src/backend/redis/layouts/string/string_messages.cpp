#include "backend/redis/layouts/string/string_messages.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {

namespace {

struct parts {
  std::string_view rest;
  std::string_view text() noexcept {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view out = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return out;
  }
  std::int64_t number() noexcept {
    const std::string_view digits = text();
    std::int64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return n;
  }
};

}  // namespace

std::optional<pushed_message> read_message(std::string_view payload) noexcept {
  parts p{payload};
  const std::string_view what = p.text();
  pushed_message m;
  if (what == "grant") {
    m.number = p.number();
    m.at = server_time_of(p.number());
    m.window = span_of(p.number());
    m.others = p.number() != 0;
    m.stamp = p.text();
  } else if (what == "look") {
    m.what = push::kind::look;
    m.at = server_time_of(p.number());
  } else if (what == "wanted") {
    m.what = push::kind::wanted;
    p.text();
  } else {
    return std::nullopt;
  }
  m.owner = p.text();
  m.lock = p.rest;
  return m;
}

}  // namespace holdfast::redis
