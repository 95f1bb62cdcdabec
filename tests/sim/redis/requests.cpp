#include "tests/sim/redis/requests.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/request_parser.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {

namespace {

std::string encoded(const std::vector<std::string_view>& argv) {
  std::string out = '*' + std::to_string(argv.size()) + "\r\n";
  for (const std::string_view a : argv)
    out.append('$' + std::to_string(a.size()) + "\r\n").append(a).append("\r\n");
  return out;
}

std::string quoted(std::string_view text) {
  const auto is_plain = [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("\"\\|<").find(c) == std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c) || c == ' ') {
      out += c;
    } else {
      (out += "\\x") += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out += '"';
}

// Scripts are few and long, and are shown often.
const std::string& sha_of(std::string_view text) {
  thread_local std::unordered_map<std::string, std::string> known;
  std::string& sha = known[std::string(text)];
  if (sha.empty()) sha = sha1_hex(text);
  return sha;
}

enum class script_at { none, hash, text };

script_at script_in(const std::vector<std::string_view>& argv, std::size_t i) {
  if (i == 1 && same_word(argv[0], "evalsha")) return script_at::hash;
  if (i == 1 && same_word(argv[0], "eval")) return script_at::text;
  const bool of_script = i > 1 && same_word(argv[0], "script");
  if (of_script && same_word(argv[1], "load")) return script_at::text;
  return of_script && same_word(argv[1], "exists") ? script_at::hash : script_at::none;
}

}  // namespace

std::size_t cut_at(std::string_view bytes, double share) {
  std::vector<std::size_t> places;
  std::vector<std::string_view> argv;
  std::string complaint;
  std::string_view rest = bytes;
  while (parse_request(rest, argv, complaint) == parsed::whole)
    for (const std::string_view a : argv)
      places.push_back(static_cast<std::size_t>(a.data() - bytes.data()));
  if (places.empty()) return 0;
  return places[static_cast<std::size_t>(share * static_cast<double>(places.size()))];
}

std::string request_texts::show(std::string_view bytes) {
  std::string out;
  std::vector<std::string_view> argv;
  std::string complaint;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view before = rest;
    if (!out.empty()) out += " | ";
    const bool is_whole = parse_request(rest, argv, complaint) == parsed::whole;
    if (!is_whole || before.substr(0, before.size() - rest.size()) != encoded(argv))
      return out + "raw " + quoted(before);
    for (std::size_t i = 0; i < argv.size(); ++i) {
      if (i > 0) out += ' ';
      const script_at is = script_in(argv, i);
      out += is == script_at::none ? quoted(argv[i])
             : is == script_at::hash
                 ? "<script " + std::to_string(number_of(argv[i])) + '>'
                 : "<script " + std::to_string(number_of(sha_of(argv[i]))) + '>';
    }
  }
  return out;
}

int request_texts::number_of(std::string_view sha) {
  const auto found = numbers_.find(sha);
  if (found != numbers_.end()) return found->second;
  const int next = static_cast<int>(numbers_.size()) + 1;
  return numbers_.emplace(sha, next).first->second;
}

}  // namespace holdfast::sim
