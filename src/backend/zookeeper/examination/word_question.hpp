// Asks a server an administrator's word ("srvr") over a connection of its own.
#pragma once
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/failure.hpp"
#include "base/network.hpp"

namespace holdfast::zookeeper {

struct word_answer {
  std::string text;
  bool was_open = false;  // it took the connection
  core::failure why;      // there is no answer; code {}: there is one
};

// Blocks, at most for `most`. `tls` null: plain text.
word_answer ask_word(core::environment&, const core::address&, const core::tls_terms* tls,
                     std::string_view word, core::duration most);

}  // namespace holdfast::zookeeper
