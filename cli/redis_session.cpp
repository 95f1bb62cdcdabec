#include "cli/redis_session.hpp"

#include <chrono>
#include <stdexcept>

#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

constexpr std::chrono::seconds reply_bound{5};

}  // namespace

redis_session::redis_session(const url::endpoint& at, const redis_credentials& login)
    : address_(address_text(at)) {
  try {
    link_.emplace(at.host, at.port, reply_bound);
  } catch (const testkit::redis_silent&) {
    fail("no connection");
  }
  if (!login.password.empty()) log_in(login);
}

// The text of a refusal is left out: it may quote the words of the command.
void redis_session::log_in(const redis_credentials& login) {
  std::vector<std::string> words{"AUTH"};
  if (!login.user.empty()) words.push_back(login.user);
  words.push_back(login.password);
  const redis_value reply = command(words);
  if (reply.is_error())
    fail("the credentials of the URL were rejected (" + reply.text.substr(0, reply.text.find(' ')) +
         ')');
}

redis_value redis_session::command(const std::vector<std::string>& words) {
  try {
    return link_->command(words);
  } catch (const testkit::redis_silent&) {
    fail("no reply");
  }
}

redis_value redis_session::checked_command(const std::vector<std::string>& words) {
  redis_value reply = command(words);
  if (reply.is_error()) fail(words.front() + ": " + reply.text);
  return reply;
}

void redis_session::fail(const std::string& why) const {
  throw std::runtime_error(address_ + ": " + why);
}

}  // namespace holdfast::cli
