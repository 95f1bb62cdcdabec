#include "backend/redis/shards/shard_list.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "base/fail.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "seam/own_options.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t shards_max = 64, name_bytes_max = 64;
constexpr double weight_min = 0.001, weight_max = 1000;

// Of the locks, and so the same for all shards.
constexpr std::array<std::string_view, 5> options_of_locks{"layout", "unsafe", "fair", "prefix",
                                                           "stale-after"};

constexpr std::array<std::string_view, 5> schemes_of_shards{"redis", "rediss", "redis+unix",
                                                            "redis+sentinel", "rediss+sentinel"};

bool is_of_locks(const url::option& o) {
  return std::ranges::find(options_of_locks, o.first) != options_of_locks.end();
}

[[noreturn]] void refuse_list(const seam::open_args& o, std::string why) {
  base::fail(errc::bad_url, "open", std::move(why), {}, o.where.text());
}

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

// Empty, or what is wrong with it.
std::string_view fault_of_name(std::string_view name) {
  const auto may_be_in_one = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:[]").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > name_bytes_max || !std::ranges::all_of(name, may_be_in_one))
    return "the name of a shard has 1 to 64 letters, digits and characters of -_.:[]";
  return {};
}

// redis+shards://a,b,c

std::vector<std::string_view> one_for_each(const std::vector<shard_place>& shards,
                                           const seam::own_options& own, std::string_view option,
                                           std::string_view text) {
  auto out = words_of(text, ',');
  if (out.size() != shards.size())
    own.refuse(std::string(option) + ": give one for each of the " + std::to_string(shards.size()) +
               " shards, in the order of the servers, separated by commas");
  return out;
}

void read_names(const seam::own_options& own, std::string_view text,
                std::vector<shard_place>& out) {
  const auto names = one_for_each(out, own, "names", text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto fault = fault_of_name(names[i]); !fault.empty())
      own.refuse("names: " + std::string(fault));
    out[i].name = names[i];
  }
}

// 0: the shard is not in the list.
double weight_of(std::string_view text, std::string_view option) {
  return text == "0" ? 0 : seam::parse_number(text, option, weight_min, weight_max);
}

void read_weights(const seam::own_options& own, std::string_view option, std::string_view text,
                  std::vector<shard_place>& out, double shard_place::*which) {
  const auto weights = one_for_each(out, own, option, text);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].*which = weight_of(weights[i], option);
}

std::vector<shard_place> shards_of_servers(const seam::open_args& o) {
  const std::string scheme = o.where.scheme() == "rediss+shards" ? "rediss" : "redis";
  std::vector<shard_place> out;
  std::set<std::string> seen;
  for (url::endpoint e : o.where.endpoints()) {
    if (e.port == 0) e.port = o.where.default_port();
    base::address at;
    at.host = e.host;
    at.port = e.port;
    std::string text = base::text_of(at);
    if (!seen.insert(text).second) refuse_list(o, "it names " + text + " twice");
    out.push_back({std::move(text), 1, 1, secret_access::of_server(o.where, scheme, e), {}});
  }
  seam::own_options own(o);
  own.read("names", [&](std::string_view value) { read_names(own, value, out); });
  own.read("weights", [&](std::string_view value) {
    read_weights(own, "weights", value, out, &shard_place::weight);
  });
  for (shard_place& s : out) s.former_weight = s.weight;
  own.read("was", [&](std::string_view value) {
    read_weights(own, "was", value, out, &shard_place::former_weight);
  });
  for (shard_place& s : out)
    for (const url::option& each : o.own)
      if (each.first != "names" && each.first != "weights" && each.first != "was")
        s.own.push_back(each);
  return out;
}

// redis+shards:///etc/holdfast/shards

class shard_file {
 public:
  explicit shard_file(const seam::open_args& o) : args_(o) {}

  std::vector<shard_place> read() {
    std::ifstream file(args_.where.path());
    if (!file)
      refuse_list(args_,
                  "the file of the shards cannot be read; check its path and your rights, or name "
                  "the servers: redis+shards://a,b,c");
    for (const url::option& o : args_.own)
      if (!is_of_locks(o))
        refuse_list(args_, "the option " + base::shown_option_name(o.first) +
                               " concerns a server; give it with its URL in the file");
    if (!args_.password.empty())
      refuse_list(args_, "a password is given, and each shard has its own; give them in the file");
    for (std::string line; std::getline(file, line);) {
      ++line_;
      read_line(line);
    }
    return std::move(out_);
  }

 private:
  // Never quotes the line, which may have a password in it.
  [[noreturn]] void refuse_line(const std::string& why) const {
    refuse_list(args_, "line " + std::to_string(line_) + " of the file: " + why);
  }

  void read_line(const std::string& text) {
    std::istringstream line(text);
    std::vector<std::string> words;
    for (std::string word; line >> word && !word.starts_with('#');) words.push_back(word);
    if (words.empty()) return;
    if (words.size() < 2)
      refuse_line("give a name and a URL, and perhaps a weight: alpha redis://10.0.0.7 weight=2");
    const std::string &name = words[0], &where = words[1];
    if (const auto fault = fault_of_name(name); !fault.empty()) refuse_line(std::string(fault));
    try {
      out_.push_back({name, 1, 1, url::parse(where), {}});
      read_weights_of(out_.back(), std::span(words).subspan(2));
    } catch (const lock_error& e) {
      refuse_line(std::string(e.detail()));
    }
    read_options(out_.back());
  }

  void read_weights_of(shard_place& s, std::span<const std::string> words) const {
    constexpr std::string_view present = "weight=", former = "was=";
    bool has_former = false;
    for (const std::string_view word : words) {
      if (word.starts_with(present)) {
        s.weight = weight_of(word.substr(present.size()), "weight");
      } else if (word.starts_with(former)) {
        s.former_weight = weight_of(word.substr(former.size()), "was");
        has_former = true;
      } else {
        base::fail(errc::bad_url, "open",
                   "a URL may be followed by weight= and by was=, for example weight=2");
      }
    }
    if (!has_former) s.former_weight = s.weight;
  }

  void read_options(shard_place& s) const {
    if (std::ranges::find(schemes_of_shards, s.where.scheme()) == schemes_of_shards.end())
      refuse_line("a shard is a redis:, rediss:, redis+unix: or redis+sentinel: URL");
    try {
      seam::read_client_options(s.where, s.own);
    } catch (const lock_error& e) {
      refuse_line(std::string(e.detail()));
    }
    const auto is_own = [&](const url::option& o) {
      return std::ranges::find(s.own, o) != s.own.end() || o.first.starts_with("password-");
    };
    for (const url::option& o : s.where.options())
      if (!is_own(o) || is_of_locks(o))
        refuse_line("the option " + base::shown_option_name(o.first) +
                    " is the same for all shards; give it with the redis+shards: URL");
    for (const url::option& o : args_.own) s.own.push_back(o);
  }

  const seam::open_args& args_;
  std::vector<shard_place> out_;
  int line_ = 0;
};

}  // namespace

std::vector<shard_place> read_shards(const seam::open_args& o) {
  const bool has_servers = !o.where.endpoints().empty();
  if (!has_servers && o.where.path().size() < 2)
    refuse_list(o, "name the servers, redis+shards://a,b,c, or a file that names the shards, "
                   "redis+shards:///etc/holdfast/shards");
  std::vector<shard_place> out = has_servers ? shards_of_servers(o) : shard_file(o).read();
  if (out.empty()) refuse_list(o, "the file names no shard");
  if (out.size() > shards_max) refuse_list(o, "name at most 64 shards");
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (out[i].name == out[j].name) refuse_list(o, "two shards have the name " + out[i].name);
  for (const shard_place& s : out)
    if (s.weight == 0 && s.former_weight == 0)
      refuse_list(o, "the shard " + s.name + " has the weight 0 in both lists; leave it out");
  if (std::ranges::none_of(out, [](const shard_place& s) { return s.weight > 0; }) ||
      std::ranges::none_of(out, [](const shard_place& s) { return s.former_weight > 0; }))
    refuse_list(
        o, "all shards of a list have the weight 0; give at least one of them a larger weight");
  return out;
}

}  // namespace holdfast::redis
