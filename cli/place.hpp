// The store of the locks, and the source of its URL.
#pragma once
#include <holdfast/url.hpp>

#include <optional>
#include <span>
#include <string>

namespace holdfast::cli {

struct place {
  std::string text;           // of the URL, as it was given, secrets included; "": this machine
  std::optional<url> parsed;  // nothing when the text is empty
  std::string said_by;        // "--url", "HOLDFAST_URL", "the default", or "@PROFILE"

  bool local() const noexcept;  // a directory: nothing of it can hang on a network
  bool has_session() const { return has_session(parsed); }
  // Locks of that store end with a session, and have no ttl.
  static bool has_session(const std::optional<url>& where);
  bool strict() const;           // ?strict=1: what has no effect there is refused
  std::string identity() const;  // the URL without secrets: equal for the same store
  std::string shown() const;     // "redis://db (HOLDFAST_URL)", without secrets
  std::span<const std::string> secret_variables() const;  // of the environment: with passwords
};

// The argument of --url, else $HOLDFAST_URL, else this machine. "@NAME" is the URL of the profile
// of that name (cli/profile.hpp). Throws lock_error: bad_url.
// Throws usage_error: one of them is empty, or is a path or an address instead of a URL; or the
// profile cannot be read, or has a URL that cannot be used.
place place_of(const std::optional<std::string>& argument);

// A store in the memory of this process excludes no other process. Throws usage_error.
void refuse_memory(const place&);

}  // namespace holdfast::cli
