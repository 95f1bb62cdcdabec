#include "seam/client_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "base/url_parts.hpp"

namespace holdfast::seam {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string wants) {
  fail(errc::bad_option, "open",
       std::string(option) + '=' + shown_option_value(text) + ": " + wants);
}

struct unit {
  std::string_view name;
  double nanoseconds;
};
constexpr unit units[] = {{"us", 1e3}, {"ms", 1e6},   {"s", 1e9},
                          {"m", 6e10}, {"h", 3.6e12}, {"", 1e9}};

using reader = void (*)(client_options&, std::string_view value, std::string_view name);

std::string rounded(duration d) {
  constexpr duration hour = std::chrono::hours{1};
  if (d >= hour) return std::to_string(d / hour) + 'h';
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()) + "ms";
}

duration within(std::string_view value, std::string_view name, duration lowest, duration limit) {
  const duration d = parse_duration(value, name);
  if (d < lowest || d > limit)
    refuse(name, value, "give " + rounded(lowest) + " to " + rounded(limit));
  return d;
}

constexpr duration day = std::chrono::hours{24};
constexpr duration a_moment = std::chrono::milliseconds{1};

template <bool client_options::*flag>
void read_flag(client_options& o, std::string_view value, std::string_view name) {
  o.*flag = parse_bool(value, name);
}

constexpr duration nothing{};

template <duration client_options::*time, const duration& lowest = nothing>
void read_time(client_options& o, std::string_view value, std::string_view name) {
  o.*time = within(value, name, lowest, day);
}

void read_nothing(client_options&, std::string_view, std::string_view) {}

struct option_row {
  std::string_view name;
  reader read;
};

// Defaults are in client_options, meanings in docs/options.md.
constexpr std::array rows = {
    option_row{"ttl",
               [](client_options& o, std::string_view v, std::string_view n) {
                 o.ttl =
                     std::chrono::ceil<std::chrono::milliseconds>(within(v, n, ttl_min, ttl_max));
               }},
    option_row{"renew", read_flag<&client_options::renew>},
    option_row{"grace", [](client_options& o, std::string_view v,
                           std::string_view n) { o.grace = within(v, n, {}, ttl_max); }},
    option_row{"clock-skew", read_time<&client_options::clock_skew>},
    option_row{"connect-timeout", read_time<&client_options::connect_timeout, a_moment>},
    option_row{"op-timeout", read_time<&client_options::op_timeout, a_moment>},
    option_row{"close-timeout", read_time<&client_options::close_timeout>},
    option_row{"outage-timeout",
               [](client_options& o, std::string_view v, std::string_view n) {
                 if (v != "none") o.outage_timeout = within(v, n, {}, ttl_max);
               }},
    option_row{"turns",
               [](client_options& o, std::string_view v, std::string_view n) {
                 const double turns = parse_number(v, n, 1, 1024);
                 if (turns != std::floor(turns)) refuse(n, v, "give a whole number");
                 o.turns = static_cast<std::uint32_t>(turns);
               }},
    option_row{"turn-time", read_time<&client_options::turn_time>},
    option_row{"linger", read_time<&client_options::linger>},
    option_row{"admit-after-loss", read_flag<&client_options::admit_after_loss>},
    option_row{"metrics", read_flag<&client_options::metrics>},
    option_row{"recorder", read_flag<&client_options::recorder>},
    option_row{"strict", read_flag<&client_options::strict>},
    option_row{"password-file", read_nothing},
    option_row{"password-env", read_nothing},
};

}  // namespace

client_options read_client_options(const url& where, std::vector<url::option>& remaining,
                                   const open_options& options) {
  client_options out;
  for (const url::option& given : where.options()) {
    const auto row = std::ranges::find(rows, given.first, &option_row::name);
    if (row == rows.end()) {
      remaining.push_back(given);
    } else {
      row->read(out, given.second, given.first);
    }
  }
  if (options.ttl) out.ttl = *options.ttl;
  if (options.grace) out.grace = *options.grace;
  out.log = {options.log, options.log_context};
  if (out.grace > out.ttl / 3)
    fail(errc::bad_option, "open", "grace is above a third of the ttl; lower it or raise the ttl");
  if (const auto fault = ttl_fault(out.ttl, out); !fault.empty())
    fail(errc::bad_option, "open", std::string(fault));
  return out;
}

std::string without_client_options(std::string_view url_text) {
  const auto mark = std::min(url_text.find('?'), url_text.size());
  std::string out(url_text.substr(0, mark));
  const auto authority = out.find("//");
  const auto user =
      authority == out.npos ? out.npos : out.substr(0, out.find('/', authority + 2)).find('@');
  if (user != out.npos) out.erase(authority + 2, user - authority - 1);
  char before = '?';
  for (std::string_view remaining = url_text.substr(mark); !remaining.empty();) {
    remaining.remove_prefix(1);
    const std::string_view option = remaining.substr(0, remaining.find('&'));
    remaining.remove_prefix(option.size());
    const std::string_view name = option.substr(0, option.find('='));
    const auto is_of_client = [&](const option_row& row) { return row.name == name; };
    if (std::ranges::any_of(rows, is_of_client) || name == "password") continue;
    out.append(1, std::exchange(before, '&')).append(option);
  }
  return out;
}

std::string_view ttl_fault(std::chrono::milliseconds ttl, const client_options& o) noexcept {
  if (ttl < ttl_min || ttl > ttl_max) return "give a ttl from 100 ms to 366 days";
  if (worth(ttl, o.clock_skew) < ttl / 2) return "clock-skew takes half of the ttl; raise the ttl";
  return {};
}

base::failure limit_fault(duration ttl, duration limit) {
  if (ttl <= limit) return {};
  return {errc::bad_option, "the ttl is longer than max-ttl, which is " + text_of(limit) +
                                "; give all clients of these servers a larger ?max-ttl="};
}

duration parse_duration(std::string_view text, std::string_view option) {
  static constexpr auto wants = "give a number with a unit, for example 500ms, 1.5s, 2m or 1h";
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number)) refuse(option, text, wants);
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto u = std::ranges::find(units, name, &unit::name);
  if (u == std::end(units)) refuse(option, text, wants);
  if (number < 0) refuse(option, text, "it is negative");
  const double nanoseconds = number * u->nanoseconds;
  if (nanoseconds >= 9.2e18) refuse(option, text, "it is longer than 292 years");
  return duration(std::llround(nanoseconds));
}

bool parse_bool(std::string_view text, std::string_view option) {
  for (const std::string_view yes : {"1", "true", "yes", "on"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "false", "no", "off"})
    if (text == no) return false;
  refuse(option, text, "give 1 or 0");
}

double parse_number(std::string_view text, std::string_view option, double lowest, double highest) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !(number >= lowest) ||
      !(number <= highest)) {
    const auto shown = [](double x) {
      const std::string s = std::to_string(x);
      return s.substr(0, x == std::floor(x) ? s.find('.') : s.npos);
    };
    refuse(option, text, "give a number from " + shown(lowest) + " to " + shown(highest));
  }
  return number;
}

void refuse_unknown_option(const url& where, std::string_view name,
                           std::span<const std::string_view> known_to_backend) {
  std::string text = "there is no option " + shown_option_name(name) + "; known are";
  for (const option_row& row : rows) text += ' ' + std::string(row.name);
  text += " password";
  for (const std::string_view known : known_to_backend) text += ' ' + std::string(known);
  fail(errc::bad_option, "open", std::move(text), {}, where.text());
}

}  // namespace holdfast::seam
