#include "backend/redis/diagnosis/mixed_layouts.hpp"

#include "backend/redis/layouts/string/names.hpp"

namespace holdfast::redis {

namespace {

struct mark {
  std::string_view prefix, layout;
};

// As "prefix:{name}", or "prefix:name" where the name has braces of its own.
constexpr mark before_the_name[] = {
    {"redisson_lock_token:", "redisson"},
    {"redisson_lock_queue:", "redisson-fair"},
    {"redisson_lock_timeout:", "redisson-fair"},
};

// The name in "{name}" or "name{tag}"; empty: there is none.
std::string_view without_braces(std::string_view text) {
  const bool is_plain = text.starts_with('{') && text.find('}') == text.size() - 1;
  return is_plain ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

void mixed_layouts::add(std::string_view key) {
  const auto note = [&](std::string_view name, std::string_view layout) {
    if (!name.empty()) layouts_of_[std::string(name)].insert(layout);
  };
  if (const auto lock = lock_of(key)) return note(*lock, "string");
  for (const mark& m : before_the_name)
    if (key.starts_with(m.prefix))
      return note(without_braces(key.substr(m.prefix.size())), m.layout);
  constexpr std::string_view of_permits = ":timeout", of_getset = ".lock";
  if (key.ends_with(of_permits)) {
    const std::string_view name = key.substr(0, key.size() - of_permits.size());
    if (name.find('{') != name.npos) return note(without_braces(name), "redisson-permits");
  }
  if (key.ends_with(of_getset)) return note(key.substr(0, key.size() - of_getset.size()), "getset");
  const auto of_holds = key.find(":rwlock_timeout:");
  if (of_holds == key.npos || of_holds == 0) return;
  // NAME:<UUID>:<thread>:rwlock_timeout:<hold>
  auto end = key.rfind(':', of_holds - 1);
  if (end != key.npos && end > 0) end = key.rfind(':', end - 1);
  if (end != key.npos) note(without_braces(key.substr(0, end)), "redisson-rw");
}

std::set<std::string> mixed_layouts::several() const {
  std::set<std::string> out;
  for (const auto& [name, layouts] : layouts_of_) {
    if (layouts.size() < 2) continue;
    std::string text = name;
    for (const std::string_view l : layouts)
      text.append(text.size() == name.size() ? " (" : ", ").append(l);
    out.insert(text += ')');
  }
  return out;
}

}  // namespace holdfast::redis
