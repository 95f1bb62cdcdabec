// A layout over two servers: locks whose names begin with "second" are stored at the second,
// and in a cluster those that begin with "moving" once they have moved.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "backend/redis/layouts/layouts.hpp"
#include "backend/redis/layouts/string/string_node.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {

class two_servers final : public topology {
 public:
  two_servers(io::client_reactor& r, const endpoint& first, const endpoint& second)
      : one(r, first, every_script()), two(r, second, every_script()) {}
  std::span<transport* const> nodes() noexcept override { return nodes_; }
  transport& node_of(std::string_view key) noexcept override {
    return key.starts_with("second") || (has_moved && key.starts_with("moving")) ? two : one;
  }
  bool has_moving_keys() const noexcept override { return true; }
  void on_redirected(std::string_view key, const transport&, const redirection&,
                     base::time_point) override {
    redirected = key;
  }
  bool is_open() const noexcept override { return one.is_open() && two.is_open(); }
  base::failure why_not_open(bool is_overdue) const override {
    return one.why_not_open(is_overdue);
  }
  seam::connection_status status() const override { return one.read_status(); }
  bool is_unavailable() const noexcept override { return one.is_unavailable(); }

  transport one, two;
  bool has_moved = false;
  std::string redirected;  // the last key

 private:
  transport* const nodes_[2] = {&one, &two};
};

// What the core hears of a claim.
class recorded_claim final : public seam::claim_sink {
 public:
  recorded_claim(layout& l, std::string_view lock) : claim_(l.open(lock, *this)) {}
  void acquire(lock_mode mode = lock_mode::exclusive) { claim_->acquire(request(mode)); }
  // In a group: with others, all or none.
  void attempt(seam::lock_group group = {}) {
    seam::acquire_request once = request();
    once.one_attempt = true;
    once.group = group;
    claim_->acquire(once);
  }
  void cancel() { claim_->cancel(); }
  void renew(std::uint32_t ticket) { claim_->renew(std::chrono::seconds{10}, ticket); }
  void downgrade() { claim_->downgrade(); }
  void release() { claim_->release(nullptr); }
  void release_to(recorded_claim& next) {
    const seam::successor after{next.claim_.get(), request()};
    claim_->release(&after);
  }
  std::string owner() const { return claim_->owner(); }

  std::string log;
  std::int64_t number = 0;
  std::error_code end, lost_by;

 private:
  static seam::acquire_request request(lock_mode mode = lock_mode::exclusive) {
    seam::acquire_request out;
    out.ttl = std::chrono::seconds{10};
    out.mode = mode;
    return out;
  }
  void on_granted(const seam::grant& g) override {
    number = g.number;
    log += "granted ";
  }
  void on_refused(base::failure why) override { log += "refused: " + why.text + ' '; }
  void on_extended(base::time_point, std::uint32_t ticket) override {
    log += "extended " + std::to_string(ticket) + ' ';
  }
  void on_doubtful() override { log += "doubtful "; }
  void on_lost(std::error_code why) override {
    lost_by = why;
    log += "lost ";
  }
  void on_contended() override { log += "contended "; }
  void on_ended(base::failure why) override {
    end = why.code;
    log += "ended ";
  }

  const std::unique_ptr<seam::claim> claim_;
};

class two_nodes {
 public:
  explicit two_nodes(bool are_in_cluster = false, std::string_view of_layout = default_layout)
      : first(to("first", are_in_cluster, of_layout)),
        second(to("second", are_in_cluster, of_layout)) {
    const std::lock_guard guard(reactor.mutex());
    tested->attach(servers);
    for (transport* t : servers.nodes()) t->open(lane::commands, world.now());
  }
  ~two_nodes() {
    claims_.clear();
    reactor.stop();
    const std::lock_guard guard(reactor.mutex());
    tested->detach();
  }
  recorded_claim& claim_on(std::string_view lock) {
    claims_.push_back(std::make_unique<recorded_claim>(*tested, lock));
    return *claims_.back();
  }
  recorded_claim& held(std::string_view lock) {
    recorded_claim& c = claim_on(lock);
    c.acquire();
    pass();
    return c;
  }
  void pass(base::duration d = std::chrono::milliseconds{100}) { world.pass(d); }
  // The next ones are made after a pause.
  void lose_connections() {
    world.refuses_connections = true;
    world.model.restart(sim::kept::everything);
    pass(std::chrono::milliseconds{1});
    world.refuses_connections = false;
  }
  void move_keys(bool to_second = true) {
    base::event_queue events;
    {
      const std::lock_guard guard(reactor.mutex());
      servers.has_moved = to_second;
      tested->on_keys_moved(world.now(), events);
    }
    events.dispatch();
  }
  // Just before an answer arrives that begins so.
  void move_keys_before(std::string answer) {
    world.changed = [this, answer](std::string bytes) {
      if (bytes.starts_with(answer) && !servers.has_moved) move_keys();
      return bytes;
    };
  }
  std::string at_second(std::string_view key) {
    return world.command_at(world.second, {"EXISTS", key});
  }
  // The first server's message, as its script sends it, that hands the lock over to this claim.
  void publish_grant_at_first(const recorded_claim& to, std::string_view lock) {
    const auto now = std::to_string(world.wall().count());
    std::string stamp;
    {
      const std::lock_guard guard(reactor.mutex());
      stamp = servers.one.server_stamp();
    }
    const std::string number = std::to_string(world.wall().count() + 1000);
    publish_at_first(to, "grant|" + number + '|' + now + "|5000|0|" + stamp, lock);
  }
  // A message of the first server for this claim.
  void publish_at_first(const recorded_claim& to, const std::string& what, std::string_view lock) {
    const std::string owner = to.owner();
    const std::string message = what + '|' + owner + '|' + std::string(lock);
    world.command({"PUBLISH", "hf:" + owner.substr(4, 16), message});
    pass();
  }

  on_model world;
  io::client_reactor reactor{world, {"alarm", "loop", "own"}, "redis://two"};
  const settings first, second;
  const std::unique_ptr<layout> tested = std::move(make_layouts(reactor, first).front());
  two_servers servers{reactor, first, second};

 private:
  static settings to(const std::string& host, bool is_in_cluster, std::string_view of_layout) {
    using namespace std::chrono_literals;
    settings s;
    s.where.host = host;
    s.layout = of_layout;
    s.text = "redis://" + host;
    s.retry_base = 50ms;
    s.connect_timeout = 1s;
    s.op_timeout = s.rules.op_timeout = 2s;
    if (is_in_cluster) s.seeds.push_back(s);
    return s;
  }
  std::vector<std::unique_ptr<recorded_claim>> claims_;
};

}  // namespace holdfast::redis
