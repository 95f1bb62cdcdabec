// The receiver of the reply to a request.
#pragma once
#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "base/event_queue.hpp"

namespace holdfast::redis {

class value;

struct reply_context {
  base::time_point now;
  base::time_point sent;  // before the first byte of the request left
  base::event_queue& events;
  std::string_view aborted = {};  // why the server refused the transaction that ends here
  // Since it was sent a connection of this client has ended: the name may lead to another server
  // now, and what this one says of locks proves nothing.
  bool is_doubted = false;
  bool lanes_agree = true;          // the last connection that was made reached this server
  base::time_point received = now;  // long before that where it was held back

  // The rest of a lease that the reply reports, less the time for which the reply was held back.
  base::duration left_of(base::duration rest) const noexcept {
    return std::max<base::duration>(rest - (now - received), {});
  }
};

// Why the server did nothing. The last three are the answers of a cluster.
enum class not_executed : unsigned char {
  script_missing,  // it does not know the script
  moved,           // another server has the key
  ask,             // another server has the key, for this one request
  try_again,       // the keys of the request are at two servers for the moment
};

// An answer of the last three kinds.
struct redirection {
  not_executed why;
  std::string_view error;  // "MOVED 3999 127.0.0.1:6381"

  redirection(not_executed w, std::string_view e) noexcept : why(w), error(e) {}
  std::string_view address() const noexcept { return error.substr(error.rfind(' ') + 1); }
};

// Exactly one of the three is called for each request, with the reactor's mutex held: in the order
// of sending, but what counts at once passes what is held back.
class reply_handler {
 public:
  virtual void on_reply(const value&, const reply_context&) = 0;
  // `error`: what the server answered. Unless it is overridden, that is an ordinary error.
  virtual void on_not_executed(not_executed, const value& error, const reply_context& c) {
    on_reply(error, c);
  }
  virtual void on_cut(const reply_context&) = 0;  // whether it was executed is unknown
  // A replica that refuses it is the wrong server; a diagnosis looks at what it finds.
  virtual bool needs_master() const noexcept { return true; }
  // A single value that counts whatever the replicas have, under replicas=: it would only cost time
  // if they did not have it.
  virtual bool counts_at_once() const noexcept { return false; }
  // Whether the value is not the last one that answers it. Called on the connection for messages,
  // and only while its reply is the next one.
  virtual bool continues_after(const value&) noexcept { return false; }

 protected:
  ~reply_handler() = default;
};

// Passes replies to functions; without one it discards them. It outlives its requests.
class reply_function final : public reply_handler {
 public:
  using answer = std::function<void(const value&, const reply_context&)>;
  reply_function() = default;
  explicit reply_function(answer f, std::function<void()> cut = {})
      : answer_(std::move(f)), cut_(std::move(cut)) {}

 private:
  void on_reply(const value& v, const reply_context& c) override {
    if (answer_) answer_(v, c);
  }
  void on_cut(const reply_context&) override {
    if (cut_) cut_();
  }

  answer answer_;
  std::function<void()> cut_;
};

}  // namespace holdfast::redis
