// The holders of a lock, as text and as JSON.
#pragma once
#include <holdfast/client.hpp>

#include <span>
#include <string>
#include <string_view>

#include "cli/json.hpp"

namespace holdfast::cli {

// "nightly is held by pid 4711 on host web1 for 12 s (note: backup)"; of a semaphore "2 of 5
// permits of pool are held by pid 4711 ... and 1 other". `all` hold one lock and are not empty.
std::string sentence_of(std::span<const holder> all);

struct held_by {
  std::string text;
  bool is_known = false;  // the text names the holder's process
  bool is_shown = false;  // the store has named a holder
};

// sentence_of() the first of these locks that anybody holds. Says less when the backend knows less
// or does not answer; never throws but for want of memory.
held_by who_holds(const client&, std::span<const std::string> names);

// For locks that are awaited although the store names no holder of them: what diagnose() finds
// wrong first. Never throws but for want of memory.
std::string why_not_granted(const client&, std::span<const std::string> names);

// The store knows for how long it is held; else holder::held_for says nothing.
bool knows_since_when(const holder&) noexcept;

// {"name":"nightly","mode":"exclusive",...}; what is not known is null.
json_object json_of(const holder&);

// An id as `break --holder` takes it: what cannot be typed is written as %XX, and so is '%'.
std::string shown_id(std::string_view owner);
std::string id_of(std::string_view shown);

}  // namespace holdfast::cli
