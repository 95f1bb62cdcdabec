#include "redis/bare_redis.hpp"

#include <hiredis/hiredis.h>

#include <cstdint>
#include <stdexcept>

namespace bench {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("the bare connection to Redis: " + why);
}

}  // namespace

std::string formatted(std::initializer_list<std::string_view> words) {
  std::string all = '*' + std::to_string(words.size()) + "\r\n";
  for (const auto word : words)
    all += '$' + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  return all;
}

void bare_redis::closing::operator()(redisContext* c) const noexcept { redisFree(c); }

bare_redis::bare_redis(int port) : context_(redisConnect("127.0.0.1", port)) {
  if (!context_ || context_->err != 0) fail(context_ ? context_->errstr : "no memory");
  // Without object functions the reader makes nothing of a reply but its type.
  context_->reader->fn = nullptr;
}

void bare_redis::append(const std::string& command) {
  redisAppendFormattedCommand(context_.get(), command.data(), command.size());
}

void bare_redis::flush() {
  for (int done = 0; done == 0;)
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) fail(context_->errstr);
}

bool bare_redis::next_is_here(bool& nil) {
  void* reply = nullptr;
  if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) fail(context_->reader->errstr);
  const auto type = reinterpret_cast<std::intptr_t>(reply);
  if (type == REDIS_REPLY_ERROR) fail("an error came back");
  nil = type == REDIS_REPLY_NIL;
  return reply != nullptr;
}

std::size_t bare_redis::skip(std::size_t replies) {
  std::size_t values = 0;
  bool nil = false;
  while (replies > 0) {
    if (!next_is_here(nil)) {
      if (redisBufferRead(context_.get()) != REDIS_OK) fail(context_->errstr);
      continue;
    }
    --replies;
    values += nil ? 0 : 1;
  }
  return values;
}

std::size_t bare_redis::skip_what_comes() {
  bool nil = false;
  if (redisBufferRead(context_.get()) != REDIS_OK) fail(context_->errstr);
  std::size_t replies = 0;
  while (next_is_here(nil)) ++replies;
  return replies;
}

}  // namespace bench
