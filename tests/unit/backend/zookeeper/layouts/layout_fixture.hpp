// A layout over a session whose server the test plays. Time stands still.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/layouts.hpp"
#include "base/network.hpp"
#include "seam/client_options.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"

namespace holdfast::zookeeper_unit {

// The connections of one session: one at a time.
class played_network final : public base::environment {
 public:
  base::time_point now() noexcept override { return time.now(); }
  std::chrono::microseconds wall() noexcept override { return time.wall(); }
  void random(std::span<std::byte> out) noexcept override { time.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by,
                                              const char*) override {
    user = &u;
    return std::make_unique<loop>(*this);
  }

  testkit::manual_environment time;
  base::loop_user* user = nullptr;
  base::stream_events* events = nullptr;  // of the connection that is open
  std::string written;

 private:
  class stream final : public base::stream {
   public:
    stream(played_network& home, base::stream_events& e) : home_(home), events_(e) {}
    ~stream() override {
      if (home_.events == &events_) home_.events = nullptr;
    }
    void write(std::span<const std::byte> bytes) noexcept override {
      home_.written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    void abort() noexcept override {}
    void finish() noexcept override {}

   private:
    played_network& home_;
    base::stream_events& events_;
  };
  class loop final : public base::event_loop {
   public:
    explicit loop(played_network& home) : home_(home) {}
    std::unique_ptr<base::stream> connect(const base::address&, const base::tls_terms*,
                                          base::stream_events& e) override {
      home_.events = &e;
      home_.written.clear();
      return std::make_unique<stream>(home_, e);
    }
    void request_flush(bool) noexcept override {}
    void attend() noexcept override {}
    base::caller_driver* driver() noexcept override { return nullptr; }
    void forked() noexcept override {}

   private:
    played_network& home_;
  };
};

inline zookeeper::settings settings_of(base::environment& env, const std::string& url_text) {
  const url where = url::parse(url_text);
  std::vector<url::option> own;
  const seam::client_options common = seam::read_client_options(where, own);
  return zookeeper::read_settings({where, common, own, {}, env, {}});
}

// The events of a claim: "granted 7", "refused", "lost" ...
struct noted_events final : seam::claim_sink {
  std::string log;
  base::failure why;  // of the last refusal or end
  int doubts = 0;
  void on_granted(const seam::grant& g) override { note("granted " + std::to_string(g.number)); }
  void on_refused(base::failure f) override {
    why = std::move(f);
    note("refused");
  }
  void on_extended(base::time_point, std::uint32_t) override {}
  void on_doubtful() override { ++doubts; }
  void on_lost(std::error_code) override { note("lost"); }
  void on_contended() override { note("wanted"); }
  void on_ended(base::failure f) override {
    why = std::move(f);
    note("ended");
  }
  void on_revocation_requested() override { note("asked"); }
  std::string take() { return std::exchange(log, {}); }

 private:
  void note(const std::string& what) { log += (log.empty() ? "" : ", ") + what; }
};

struct shown_holders final : seam::holders_handler {
  void on_result(std::vector<holder> all) override { result = std::move(all); }
  void on_failed(base::failure f) override { why = std::move(f); }

  std::optional<std::vector<holder>> result;
  base::failure why;
};

class layout_fixture {
 public:
  static constexpr std::int64_t session = 0x77;

  explicit layout_fixture(const std::string& options = {}, const std::string& servers = "h")
      : settings_(settings_of(net_, "zookeeper://" + servers + "?" + options)),
        layout_(std::move(zookeeper::make_layouts(net_, settings_).front())),
        over_(net_, settings_, *layout_) {
    {
      const std::lock_guard guard(over_.mutex());
      layout_->attach(over_);
      over_.of_session().open(net_.now());
    }
    be_attached();
    claim = layout_->open("x", told);
  }
  ~layout_fixture() {
    end_claims("");
    claim.reset();
    over_.stop();
    const std::lock_guard guard(over_.mutex());
    layout_->detach();
  }

  void acquire() { claim->acquire({}); }
  zookeeper::layout& layout() { return *layout_; }
  // The requests since, by their operations: "create exists".
  std::string requests() {
    std::string out;
    for (const auto& [number, op] : read_requests()) {
      out += (out.empty() ? "" : " ") + name_of(op);
      numbers_.push_back(number);
    }
    return out;
  }
  // To the first that is not answered yet.
  void answer(std::int64_t zxid, zookeeper::error code, std::string_view body = {}) {
    const std::int32_t number = numbers_.at(answered_++);
    give(replied(number, zxid, code, body));
  }
  void answer(std::int64_t zxid, std::string_view body = {}) {
    answer(zxid, zookeeper::error::ok, body);
  }
  void give(const std::string& bytes) { net_.events->on_bytes(bytes_of(bytes)); }
  // The connection is lost, and the session attached again with its watches.
  void move() {
    lose();
    attach_again();
  }
  // The connection that is being made is open, and the session attached with its watches.
  void attach_again() {
    numbers_.clear();
    answered_ = 0;
    be_attached();
  }
  // The client closes, whether or not the server has confirmed it.
  void end_claims(const std::string& why) {
    base::event_queue events;
    {
      const std::lock_guard guard(over_.mutex());
      layout_->end_claims(errc::closed, why, net_.now(), events);
    }
    events.dispatch();
  }

  // The connection is lost, and none is had until the next move().
  void lose() { net_.events->on_closed({errc::unavailable, "reset"}); }
  bool is_connecting() const { return net_.events != nullptr; }
  void pass(base::duration d) { net_.time.advance(d); }

  // What the claim sent when the session was attached.
  std::string sent_again() { return std::exchange(sent_again_, {}); }
  // Of the attempt whose create was sent last.
  std::string own_name(const std::string& sequence) const { return own_ + sequence; }

  noted_events told;
  std::vector<std::string> last_requests;  // the bytes of those that requests() returned last
  std::string last_request;                // of the last one
  std::unique_ptr<seam::claim> claim;

  static std::string node(const std::string& name) { return "/x/" + name; }
  static std::string created(const std::string& name) { return text(node(name)) + stat_bytes({}); }
  static std::string stat(std::int64_t czxid, std::int32_t children = 0, std::int64_t pzxid = 0,
                          std::int64_t owner = session) {
    zookeeper::node_stat s;
    s.czxid = czxid;
    s.children = children;
    s.pzxid = pzxid;
    s.ephemeral_owner = owner;
    return stat_bytes(s);
  }
  static std::string data(std::int64_t czxid, std::string_view content = {},
                          std::int64_t owner = session) {
    return text(content) + stat(czxid, 0, 0, owner);
  }
  // The reply to a multi that has made these nodes.
  static std::string all_created(const std::vector<std::string>& names) {
    std::string out;
    zookeeper::jute_writer w(out);
    for (const std::string& name : names) {
      w.write_int(static_cast<std::int32_t>(zookeeper::opcode::create)).write_bool(false);
      w.write_int(0).write_text(node(name));
    }
    w.write_int(-1).write_bool(true).write_int(-1);
    return out;
  }
  // Of a multi: a node was made, and one removed.
  static std::string replaced_by(const std::string& name) {
    using zookeeper::opcode;
    std::string out;
    zookeeper::jute_writer w(out);
    const auto begin = [&](opcode op) {
      w.write_int(static_cast<std::int32_t>(op)).write_bool(false).write_int(0);
    };
    begin(opcode::create);
    w.write_text(node(name));
    begin(opcode::remove);
    w.write_int(-1).write_bool(true).write_int(-1);
    return out;
  }
  static std::string children(const std::vector<std::string>& names) {
    std::string out;
    zookeeper::jute_writer(out).write_int(static_cast<std::int32_t>(names.size()));
    for (const std::string& n : names) out += text(n);
    return out + stat(1);
  }

 private:
  static std::string text(std::string_view t) {
    std::string out;
    zookeeper::jute_writer(out).write_text(t);
    return out;
  }
  static std::string name_of(zookeeper::opcode op) {
    using zookeeper::opcode;
    switch (op) {
      case opcode::create2: return "create";
      case opcode::create_container: return "container";
      case opcode::exists: return "exists";
      case opcode::get_children2: return "list";
      case opcode::get_data: return "watch";
      case opcode::sync: return "sync";
      case opcode::remove: return "delete";
      case opcode::multi: return "multi";
      case opcode::ping: return "ping";
      default: return std::to_string(static_cast<int>(op));
    }
  }
  std::vector<std::pair<std::int32_t, zookeeper::opcode>> read_requests() {
    net_.user->flush();
    last_requests.clear();
    std::vector<std::pair<std::int32_t, zookeeper::opcode>> out;
    zookeeper::frame_reader frames;
    frames.feed(bytes_of(std::exchange(net_.written, {})), [&](std::span<const std::byte> f) {
      zookeeper::jute_reader r(f);
      const std::int32_t number = r.read_int();
      const auto op = static_cast<zookeeper::opcode>(r.read_int());
      if (op == zookeeper::opcode::create2) {
        const std::string_view path = r.read_text();
        own_ = path.substr(std::min(path.size(), node("").size()));
      }
      out.emplace_back(number, op);
      last_request.assign(reinterpret_cast<const char*>(f.data()), f.size());
      last_requests.push_back(last_request);
      return true;
    });
    return out;
  }
  // Whatever the session itself asks is answered.
  void be_attached() {
    net_.events->on_open();
    net_.user->flush();
    net_.written.clear();
    give(connected(30'000, session));
    for (const auto& [number, op] : read_requests()) {
      if (op == zookeeper::opcode::set_watches) {
        give(replied(number, 100));
      } else if (op == zookeeper::opcode::multi) {
        give(empty_multi_reply(number, 100));
      } else {
        numbers_.push_back(number);
        sent_again_ += (sent_again_.empty() ? "" : " ") + name_of(op);
      }
    }
  }

  played_network net_;
  zookeeper::settings settings_;
  std::unique_ptr<zookeeper::layout> layout_;
  zookeeper::transport over_;
  std::vector<std::int32_t> numbers_;  // of requests, in order
  std::size_t answered_ = 0;
  std::string own_, sent_again_;
};

}  // namespace holdfast::zookeeper_unit
