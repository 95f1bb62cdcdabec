// An environment in which the test plays the server of every connection.
#pragma once
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/network.hpp"
#include "testkit/manual_environment.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {

class scripted_network final : public base::environment {
 public:
  struct line {  // one stream, also once it is gone
    base::stream_events* events = nullptr;
    std::string host, written;
    std::string reached;  // the numeric address of that host; empty: not known
    bool is_aborted = false;
    bool is_over() const noexcept { return is_aborted || !events; }
  };

  base::time_point now() noexcept override { return time.now(); }
  std::chrono::microseconds wall() noexcept override { return time.wall(); }
  void random(std::span<std::byte> out) noexcept override { time.random(out); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* n) override {
    return time.make_alarm(t, n);
  }
  std::unique_ptr<base::worker> make_worker(const char* n) override { return time.make_worker(n); }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& u, base::driven_by,
                                              const char*) override {
    return std::make_unique<loop>(*this, u);
  }

  // The server's side of the connection that was opened as the n-th.
  void open(std::size_t n) { lines.at(n)->events->on_open(); }
  void reply(std::size_t n, std::string_view bytes) {
    lines.at(n)->events->on_bytes(std::as_bytes(std::span(bytes)));
  }
  void close(std::size_t n, base::failure why = {errc::unavailable, "closed"}) {
    std::exchange(lines.at(n)->events, nullptr)->on_closed(std::move(why));
  }
  std::string received(std::size_t n) {
    flush();
    return commands_in(std::exchange(lines.at(n)->written, {}));
  }
  // The open connections to a host, in the order of opening.
  std::vector<std::size_t> lines_to(std::string_view host) const {
    std::vector<std::size_t> out;
    for (std::size_t n = 0; n < lines.size(); ++n)
      if (lines[n]->host == host && !lines[n]->is_over()) out.push_back(n);
    return out;
  }
  void flush() {
    for (base::loop_user* u : std::vector(users)) u->flush();
  }

  testkit::manual_environment time;
  std::vector<std::shared_ptr<line>> lines;
  std::vector<base::loop_user*> users;
  int attended = 0, flush_requests = 0;
  int descriptors = std::numeric_limits<int>::max();  // for that many more connections

 private:
  class stream final : public base::stream {
   public:
    explicit stream(std::shared_ptr<line> l) : line_(std::move(l)) {}
    ~stream() override { line_->events = nullptr; }
    void write(std::span<const std::byte> bytes) noexcept override {
      line_->written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    void abort() noexcept override { line_->is_aborted = true; }
    void finish() noexcept override {}
    base::address peer() const override { return {line_->reached, 6379, {}}; }

   private:
    std::shared_ptr<line> line_;
  };
  class loop final : public base::event_loop {
   public:
    loop(scripted_network& home, base::loop_user& u) : home_(home), user_(u) {
      home_.users.push_back(&user_);
    }
    ~loop() override { std::erase(home_.users, &user_); }
    std::unique_ptr<base::stream> connect(const base::address& to, const base::tls_terms*,
                                          base::stream_events& e) override {
      if (home_.descriptors == 0)
        throw std::system_error(std::make_error_code(std::errc::too_many_files_open));
      --home_.descriptors;
      auto made = std::make_shared<line>();
      made->events = &e;
      made->host = to.host;
      home_.lines.push_back(made);
      return std::make_unique<stream>(std::move(made));
    }
    void request_flush(bool) noexcept override { ++home_.flush_requests; }
    void attend() noexcept override { ++home_.attended; }
    base::caller_driver* driver() noexcept override { return nullptr; }
    void forked() noexcept override {}

   private:
    scripted_network& home_;
    base::loop_user& user_;
  };
};

}  // namespace holdfast::redis
