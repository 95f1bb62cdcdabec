#include "backend/zookeeper/layouts/lock_breaking.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

namespace {

class lock_breaking final : public node_query {
 public:
  lock_breaking(const query_context& context, const sequential_codec& c, std::string lock,
                std::string_view seen, core::duration revocation, core::decision_handler& to)
      : node_query(context),
        codec_(c),
        lock_(std::move(lock)),
        seen_(seen),
        revocation_(revocation),
        to_(to),
        end_(*this) {
    end_.awaited_node = lock_ + '/' + seen_;
  }

 private:
  enum class question : unsigned char { line, request, watch, removal };

  void send_first(core::time_point now) override {
    asked_.push_back(question::line);
    list(lock_, now);
  }
  void read(std::size_t, const reply& r, core::time_point now) override {
    const question q = asked_.front();
    asked_.pop_front();
    if (is_decided_) return;
    if (r.is(error::no_node)) return decide(q != question::line);
    if (q == question::request && r.is(error::no_auth)) return remove(now);
    if (!r.is_ok()) return fail({errc_of(r.head.code), explain(r.head.code, lock_)});
    switch (q) {
      case question::line: return read_line(r, now);
      case question::request: return;
      case question::watch: return wait();
      case question::removal: return decide(true);
    }
  }
  void read_line(const reply& r, core::time_point now) {
    const auto all = read_children(r.body);
    if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
    const std::vector<node_in_line> line = codec_.line_of(all->names);
    const auto found = std::ranges::find(line, std::string_view(seen_), &node_in_line::name);
    if (found == line.end() || !found->holds) return decide(false);
    if (revocation_ <= core::duration::zero()) return remove(now);
    std::string request;
    append_set_data(request, end_.awaited_node, revocation_data, any_version);
    asked_.push_back(question::request);
    send(opcode::set_data, std::move(request), now);
    end_.until = core::saturating_add(now, revocation_);
    watch(now);
  }
  void watch(core::time_point now) {
    asked_.push_back(question::watch);
    look(end_.awaited_node, now, true);
  }
  void remove(core::time_point now) {
    is_removing_ = true;
    asked_.push_back(question::removal);
    send(opcode::remove, delete_body(end_.awaited_node), now);
  }
  void decide(bool yes) {
    is_decided_ = true;
    yes_ = yes;
  }

  void wait() {
    if (is_removing_) return;
    hold();
    waits().add(end_);
    wake_by(end_.until);
  }
  struct end_of_node final : zookeeper::node_wait {
    explicit end_of_node(lock_breaking& b) noexcept : home(b) {}
    void on_changed(bool has_ended, core::time_point now, core::event_queue& events) override {
      home.waits().remove(*this);
      has_ended ? home.decide(true) : home.watch(now);
      home.end_hold(now, events);
    }
    void on_time(core::time_point now, core::event_queue& events) override {
      home.waits().remove(*this);
      home.remove(now);
      home.end_hold(now, events);
    }
    void on_closed(core::event_queue& events) override { home.end_hold(core::never, events); }
    lock_breaking& home;
  };

  void report() override { why.code ? to_.on_failed(std::move(why)) : to_.on_decided(yes_); }

  const sequential_codec& codec_;
  const std::string lock_, seen_;
  const core::duration revocation_;
  core::decision_handler& to_;
  end_of_node end_;
  std::deque<question> asked_;  // in the order of sending
  bool is_removing_ = false, is_decided_ = false, yes_ = false;
};

}  // namespace

void start_breaking(const query_context& context, const sequential_codec& c, std::string lock_path,
                    std::string_view seen, core::duration revocation, core::decision_handler& to) {
  (new lock_breaking(context, c, std::move(lock_path), seen, revocation, to))->start();
}

}  // namespace holdfast::zookeeper
