#include "cli/holders.hpp"

#include <holdfast/error.hpp>
#include <holdfast/finding.hpp>

#include <algorithm>

#include "cli/dead_holder.hpp"
#include "cli/duration_text.hpp"

namespace holdfast::cli {
namespace {

std::string person(const holder& h) {
  std::string text = h.pid != 0 ? "pid " + std::to_string(h.pid) : std::string("another process");
  if (!h.host.empty()) text += " on host " + h.host;
  if (knows_since_when(h)) text += " for " + spoken(h.held_for);
  if (!h.note.empty()) text += " (note: " + h.note + ')';
  if (is_dead(h) == true) text += ", which is dead: " + why_still_held(h);
  return text;
}

std::string what_is_held(std::span<const holder> all) {
  const holder& first = all.front();
  if (first.mode != lock_mode::permit) return first.name + " is held by ";
  std::uint64_t taken = 0;
  for (const holder& h : all) taken += h.permits;
  return std::to_string(taken) + " of " + std::to_string(first.total_permits) + " permits of " +
         first.name + " are held by ";
}

std::string word_for(lock_mode mode) {
  switch (mode) {
    case lock_mode::shared: return "shared";
    case lock_mode::permit: return "permit";
    default: return "exclusive";
  }
}

json_value number_or_null(bool known, std::int64_t value) {
  return known ? json_value(value) : json_value(nullptr);
}

int value_of_hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool knows_since_when(const holder& h) noexcept { return h.pid != 0 || h.held_for.count() > 0; }

std::string sentence_of(std::span<const holder> all) {
  std::string text = what_is_held(all) + person(all.front());
  const auto others = all.size() - 1;
  if (others > 0) text += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
  return text;
}

held_by who_holds(const client& c, std::span<const std::string> names) {
  std::string unknown = names.size() == 1
                            ? names.front() + " is held by another holder"
                            : "one of " + std::to_string(names.size()) + " locks is held";
  try {
    for (const std::string& name : names)
      if (const auto all = c.holders(name); !all.empty())
        return {sentence_of(all), all.front().pid != 0, true};
    return {unknown};
  } catch (const lock_error& e) {
    return {unknown + " (the holder is not known: " + e.code().message() + ')'};
  }
}

std::string why_not_granted(const client& c, std::span<const std::string> names) {
  std::string text = (names.size() == 1 ? names.front() : std::string("one of the locks")) +
                     " is not granted, and no holder of it is known";
  std::error_code ec;
  const auto findings = c.diagnose(ec);
  const auto bad = std::ranges::find(findings, finding_grade::bad, &finding::grade);
  if (ec) return text + ": " + ec.message();
  return bad == findings.end() ? text : text + ": " + bad->why;
}

json_object json_of(const holder& h) {
  const auto dead = is_dead(h);
  const bool is_permit = h.mode == lock_mode::permit;
  const bool ends = h.expires_in != std::chrono::milliseconds::max();
  // A string: a token has more digits than a number of JavaScript.
  const auto token = h.token != 0 ? json_value(std::to_string(h.token)) : json_value(nullptr);
  return {{{"name", h.name},
           {"mode", word_for(h.mode)},
           {"permits", number_or_null(is_permit, h.permits)},
           {"total_permits", number_or_null(is_permit, h.total_permits)},
           {"owner", shown_id(h.owner)},
           {"token", token},
           {"pid", number_or_null(h.pid != 0, h.pid)},
           {"host", h.host},
           {"note", h.note},
           {"held_for_ms", number_or_null(knows_since_when(h), h.held_for.count())},
           {"expires_in_ms", number_or_null(ends, h.expires_in.count())},
           {"waiting", number_or_null(h.waiting >= 0, h.waiting)},
           {"dead", dead ? json_value(*dead) : json_value(nullptr)}}};
}

std::string shown_id(std::string_view owner) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : owner) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%')
      out += c;
    else
      out.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  return out;
}

std::string id_of(std::string_view shown) {
  std::string out;
  while (!shown.empty()) {
    const int high = shown.size() > 2 && shown[0] == '%' ? value_of_hex(shown[1]) : -1;
    const int low = high >= 0 ? value_of_hex(shown[2]) : -1;
    out += low >= 0 ? static_cast<char>(high * 16 + low) : shown[0];
    shown.remove_prefix(low >= 0 ? 3 : 1);
  }
  return out;
}

}  // namespace holdfast::cli
