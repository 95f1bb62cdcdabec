// The credentials of a Redis URL. The library shows no password to a program, so they are read from
// the text of the URL.
#pragma once
#include <holdfast/url.hpp>

#include <string>

namespace holdfast::cli {

struct redis_credentials {
  std::string user, password;  // no password: the servers need none
};

// `text`: what `where` was parsed from. Throws std::runtime_error: a file cannot be read.
redis_credentials credentials_of_servers(const std::string& text, const url& where);
redis_credentials credentials_of_sentinels(const url& where);

}  // namespace holdfast::cli
