// ZooKeeper's protocol with nothing around it: one session, blocking, requests written together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace bench {

// To 127.0.0.1. All members throw std::runtime_error. It sends no pings: idle for longer than its
// session's timeout, it loses that.
class bare_zookeeper {
 public:
  explicit bare_zookeeper(int port);
  bare_zookeeper(const bare_zookeeper&) = delete;
  bare_zookeeper& operator=(const bare_zookeeper&) = delete;
  ~bare_zookeeper();  // closes the session

  // Into the next write: a request with that body.
  void append(holdfast::zookeeper::opcode, std::string_view body);
  void flush();
  // Calls on_reply(reply) for each of the replies, or of those that have come: at least one.
  template <class OnReply>
  void await(std::size_t replies, OnReply on_reply) {
    while (replies > 0) replies -= read_once(on_reply);
  }
  template <class OnReply>
  std::size_t read_once(OnReply on_reply) {
    const std::span<const std::byte> bytes = receive();
    std::size_t replies = 0;
    const bool works = frames_.feed(bytes, [&](std::span<const std::byte> frame) {
      on_reply(reply_in(frame));
      ++replies;
      return true;
    });
    if (!works) fail("it answers nonsense");
    return replies;
  }

 private:
  [[noreturn]] static void fail(const std::string& why);
  std::span<const std::byte> receive();
  static holdfast::zookeeper::reply reply_in(std::span<const std::byte> frame);

  int socket_;
  std::int32_t number_ = 0;
  std::string out_;
  std::string buffer_;
  holdfast::zookeeper::frame_reader frames_;
};

}  // namespace bench
