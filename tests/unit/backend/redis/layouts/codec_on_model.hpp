// A codec of the retrying recipe and the model of Redis: what its requests do, and what its replies
// mean.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backend/redis/layouts/retrying_codec.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::redis {

class codec_on_model : private sim::peer {
 public:
  explicit codec_on_model(const retrying_codec& c) : codec_(c) {}

  std::chrono::microseconds now{1'700'000'000'000'000};
  sim::model_redis model{[this] { return now; }};

  retrying_reply ask(retrying_operation what, const lock_request& request,
                     script_form form = script_form::by_text) {
    std::string bytes;
    command_writer out(bytes, scripts_in(form));
    codec_.append(out, what, request);
    retrying_reply r;
    r.to = what;
    with_reply(bytes, [&](const value& v) { r = codec_.read(v, request, r); });
    return r;
  }
  std::vector<retrying_reply> renew(std::span<const lock_request> all) {
    std::string bytes;
    command_writer out(bytes, scripts_in(script_form::by_text));
    codec_.append_renewals(out, all);
    std::vector<retrying_reply> replies(all.size() + 1);
    with_reply(bytes, [&](const value& v) {
      for (std::size_t i = 0; i < replies.size(); ++i) {
        replies[i].to = retrying_operation::renew;
        replies[i] = codec_.read_renewal(v, i, replies[i]);
      }
      const bool is_none = replies.back().what == retrying_reply::verdict::failed;
      EXPECT_TRUE(is_none || v.is(value::kind::error)) << "a reply beyond those that there are";
    });
    replies.pop_back();
    return replies;
  }
  std::vector<holder> look(std::string_view key) {
    std::string bytes;
    codec_.append_holders_query(bytes, key);
    std::vector<holder> found;
    with_reply(bytes, [&](const value& v) { found = codec_.read_holders_reply(v); });
    return found;
  }
  bool break_lock(std::string_view key, std::string_view seen) {
    std::string bytes;
    codec_.append_break(bytes, key, seen);
    bool is_done = false;
    with_reply(bytes, [&](const value& v) { is_done = codec_.read_break(v); });
    return is_done;
  }
  // What `read` makes of the last reply; of them there are so many.
  template <class Read>
  auto last_of(const std::string& bytes, std::size_t replies, Read read) {
    decltype(read(std::declval<const value&>())) out;
    with_replies(bytes, replies, [&](const value& v) { out = read(v); });
    return out;
  }
  // What the server answers to a command of somebody else.
  std::string command(std::initializer_list<std::string_view> argv) {
    const int connection = model.connect(*this);
    std::string out = model.execute(connection, std::span(argv.begin(), argv.size()));
    model.disconnect(connection);
    return out;
  }
  void listen_to(std::string_view channel) {
    const std::string_view argv[] = {"SUBSCRIBE", channel};
    model.execute(model.connect(heard_), argv);
  }
  // The bytes of all messages since the last call.
  std::string heard() { return std::exchange(heard_.arrived, {}); }

 private:
  struct listener final : sim::peer {
    void deliver(std::string_view bytes) override { arrived += bytes; }
    void kicked() override {}
    std::string arrived;
  };

  // Each script is called in this form the next time.
  script_cache& scripts_in(script_form form) {
    cache_ = script_cache(every_script());
    for (const script* const s : codec_.facts().loaded)
      if (form == script_form::by_text) cache_.on_missing(cache_.place_of(*s));
    return cache_;
  }
  template <class Handle>
  void with_reply(const std::string& bytes, Handle handle) {
    with_replies(bytes, 1, handle);
  }
  template <class Handle>
  void with_replies(const std::string& bytes, std::size_t wanted, Handle handle) {
    const int connection = model.connect(*this);
    model.receive(connection, bytes);
    model.disconnect(connection);
    reply_reader reader;
    const std::string arrived = std::exchange(arrived_, {});
    reader.feed(std::as_bytes(std::span(arrived)));
    std::size_t replies = 0;
    reader.for_each([&](const value& v) { return handle(v), ++replies, true; });
    EXPECT_EQ(replies, wanted);
  }
  void deliver(std::string_view bytes) override { arrived_ += bytes; }
  void kicked() override {}

  const retrying_codec& codec_;
  listener heard_;
  std::string arrived_;
  script_cache cache_{{}};
};

}  // namespace holdfast::redis
