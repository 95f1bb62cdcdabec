// A transport whose server's answers count once a replica has confirmed; the test plays the server.
#pragma once
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {

class replicated_transport : public testing::Test {
 protected:
  replicated_transport() {
    a.over = &one;
    const std::lock_guard guard(reactor.mutex());
    one.serve(a);
  }
  ~replicated_transport() override { reactor.stop(); }

  void greet(std::size_t n, const std::string& run_id = "r1") {
    net.open(n);
    net.received(n);
    net.reply(n, greeting(static_cast<int>(n) + 1, run_id));
  }
  // The first connection has the commands, and the second one asks what the replicas have.
  void connect_both() {
    open(lane::commands);
    greet(0);
    greet(1);
    net.received(1);
    confirm(1);
    a.take_log();
  }
  // A question behind a request was refused: for a second only the second connection asks.
  void have_both() {
    connect_both();
    send();
    net.reply(0, "+OK\r\n:0\r\n:1\r\n-NOPERM no right to 'info'\r\n");
    net.received(1);
    confirm(1);
    a.take_log();
  }
  // The commands' server answers a request; the second connection asks what the replicas have.
  void get_answer() {
    send();
    net.reply(0, "+OK\r\n");
    net.received(1);
  }
  // The commands move to another server, which answers a request.
  void get_answer_of_another_server() {
    net.close(0);
    net.time.advance(0ms);
    greet(2, "r2");
    a.take_log();
    send();
    net.reply(2, "+OK\r\n");
  }
  // Answers the second connection's question: `replicas` of them have confirmed, and the data have
  // this history, which continues the one before.
  void confirm(int replicas, const std::string& history = "h", const std::string& before = "0") {
    net.reply(1, confirmed_by(replicas, history, before));
  }
  static std::string confirmed_by(int replicas, const std::string& history = "h",
                                  const std::string& before = "0") {
    return ":0\r\n:" + std::to_string(replicas) + "\r\n" + replication(history, before);
  }
  static constexpr const char* question = "PUBLISH hf:wait 0 | WAIT 1 500 | INFO replication";
  void open(lane what) {
    const std::lock_guard guard(reactor.mutex());
    one.open(what, net.now());
  }
  void send() {
    a.to_send = 1;
    reactor.flush();
  }
  void send_release() {
    {
      const std::lock_guard guard(reactor.mutex());
      one.submit(released, net.now(), [](request_writer& w) { w.plain("DEL", "a"); });
    }
    reactor.flush();
  }
  std::string trouble() {
    const std::lock_guard guard(reactor.mutex());
    return one.read_status().trouble.text;
  }
  bool is_open() {
    const std::lock_guard guard(reactor.mutex());
    return one.is_open();
  }
  static endpoint with_a_replica() {
    endpoint e;
    e.where.host = "first";
    e.retry_base = 50ms;
    e.connect_timeout = 1s;
    e.op_timeout = 4s;
    e.text = "redis://first";
    e.replicas = 1;
    return e;
  }

  scripted_network net;
  io::client_reactor reactor{net, {"alarm", "loop", "own"}, "redis://first"};
  const endpoint first = with_a_replica();
  counting_source a;
  transport one{reactor, first, two_scripts};
  struct : reply_handler {
    void on_reply(const value&, const reply_context&) override { ++answers; }
    void on_cut(const reply_context&) override { ++cuts; }
    bool counts_at_once() const noexcept override { return true; }
    int answers = 0, cuts = 0;
  } released;
};

}  // namespace holdfast::redis
