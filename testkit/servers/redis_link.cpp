#include "testkit/servers/redis_link.hpp"

#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "testkit/broken_pipe.hpp"

namespace holdfast::testkit {
namespace {

timeval time_of(std::chrono::seconds bound) { return {bound.count(), 0}; }

redis_reply copy_of(const redisReply& r) {
  using kind = redis_reply::kind;
  redis_reply copy;
  switch (r.type) {
    case REDIS_REPLY_INTEGER:
      copy.what = kind::integer;
      copy.number = r.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      copy.what = r.type == REDIS_REPLY_ERROR ? kind::error : kind::text;
      copy.text.assign(r.str, r.len);
      break;
    case REDIS_REPLY_ARRAY:
      copy.what = kind::list;
      for (std::size_t i = 0; i < r.elements; ++i) copy.items.push_back(copy_of(*r.element[i]));
      break;
    default: break;
  }
  return copy;
}

}  // namespace

std::string to_text(const redis_reply& r) {
  using kind = redis_reply::kind;
  switch (r.what) {
    case kind::nil: return "(nil)";
    case kind::integer: return std::to_string(r.number);
    case kind::text: return r.text;
    case kind::error: return "(error) " + r.text;
    case kind::list: break;
  }
  std::string all;
  for (const redis_reply& item : r.items) all += (all.empty() ? "" : ", ") + to_text(item);
  return '[' + all + ']';
}

void redis_link::closing::operator()(redisContext* c) const noexcept { redisFree(c); }

redis_link::redis_link(redisContext* c, std::chrono::seconds bound) : context_(c) {
  if (!c || c->err != 0) throw redis_silent(c ? c->errstr : "no memory");
  redisSetTimeout(c, time_of(bound));
}

redis_link::redis_link(const std::string& socket_path)
    : redis_link(redisConnectUnixWithTimeout(socket_path.c_str(), time_of(usual_bound)),
                 usual_bound) {}

redis_link::redis_link(const std::string& host, int port, std::chrono::seconds bound)
    : redis_link(redisConnectWithTimeout(host.c_str(), port, time_of(bound)), bound) {}

redis_link::~redis_link() = default;
redis_link::redis_link(redis_link&&) noexcept = default;

void redis_link::send(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(),
                         lengths.data());
  // hiredis writes without MSG_NOSIGNAL to a connection that its server has closed. The signal is
  // not ignored in the whole process: the library must not need that.
  const without_broken_pipe_signal guard;
  for (int done = 0; done == 0;)
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) throw redis_silent(context_->errstr);
}

redis_reply redis_link::receive() {
  void* answer = nullptr;
  if (redisGetReply(context_.get(), &answer) != REDIS_OK) throw redis_silent(context_->errstr);
  const std::unique_ptr<void, void (*)(void*)> kept(answer, freeReplyObject);
  return copy_of(*static_cast<const redisReply*>(answer));
}

bool redis_link::is_closed() const noexcept {
  char next = 0;
  return ::recv(context_->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

redis_reply redis_link::command(const std::vector<std::string>& words) {
  send(words);
  return receive();
}

}  // namespace holdfast::testkit
