#include "backend/zookeeper/layouts/lock_breaking.hpp"

#include <deque>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

namespace {

class lock_breaking final : public node_query<bool> {
 public:
  lock_breaking(const query_context& context, std::string parent, find_nodes find,
                base::duration revocation, seam::decision_handler& to)
      : node_query(context, to),
        parent_(std::move(parent)),
        find_(std::move(find)),
        revocation_(revocation),
        end_(*this) {}

 private:
  enum class question : unsigned char { sync, queue, request, watch, removal };

  void send_first(base::time_point now) override {
    asked_.push_back(question::sync);
    sync(parent_, now);
    asked_.push_back(question::queue);
    list(parent_, now);
  }
  void read(std::size_t, const reply& r, base::time_point now) override {
    const question q = asked_.front();
    asked_.pop_front();
    if (is_decided_ && q != question::removal) return;
    if (r.is(error::no_node)) return decide(q > question::queue);
    if (q == question::request && r.is(error::no_auth)) return remove(now);
    if (!r.is_ok()) return fail({errc_of(r.head.code), explain(r.head.code, parent_)});
    switch (q) {
      case question::sync: return;
      case question::queue: return read_queue(r, now);
      case question::request: return;
      case question::watch: return wait();
      case question::removal: return decide(true);
    }
  }
  void read_queue(const reply& r, base::time_point now) {
    const auto all = read_children(r.body);
    if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
    nodes_ = find_(all->names);
    if (nodes_.empty()) return decide(false);
    if (revocation_ <= base::duration::zero()) return remove(now);
    end_.awaited_node = parent_ + '/' + nodes_.front();
    std::string request;
    append_set_data(request, end_.awaited_node, revocation_data, any_version);
    asked_.push_back(question::request);
    send(opcode::set_data, std::move(request), now);
    end_.until = base::saturating_add(now, revocation_);
    watch(now);
  }
  void watch(base::time_point now) {
    asked_.push_back(question::watch);
    look(end_.awaited_node, now, true);
  }
  void remove(base::time_point now) {
    is_removing_ = true;
    for (const std::string& name : nodes_) {
      asked_.push_back(question::removal);
      send(opcode::remove, delete_body(parent_ + '/' + name), now);
    }
  }
  void decide(bool yes) {
    is_decided_ = true;
    result = yes;
  }

  void wait() {
    if (is_removing_) return;
    hold();
    waits().add(end_);
    wake_by(end_.until);
  }
  struct end_of_node final : zookeeper::node_wait {
    explicit end_of_node(lock_breaking& b) noexcept : home(b) {}
    void on_changed(bool has_ended, base::time_point now, base::event_queue& events) override {
      home.waits().remove(*this);
      has_ended ? home.decide(true) : home.watch(now);
      home.end_hold(now, events);
    }
    void on_time(base::time_point now, base::event_queue& events) override {
      home.waits().remove(*this);
      home.remove(now);
      home.end_hold(now, events);
    }
    void on_closed(base::event_queue& events) override { home.end_hold(base::never, events); }
    lock_breaking& home;
  };

  const std::string parent_;
  const find_nodes find_;
  const base::duration revocation_;
  end_of_node end_;
  std::vector<std::string> nodes_;  // by which the holder has the lock
  std::deque<question> asked_;      // in the order of sending
  bool is_removing_ = false, is_decided_ = false;
};

}  // namespace

void start_breaking(const query_context& context, std::string parent, find_nodes find,
                    base::duration revocation, seam::decision_handler& to) {
  (new lock_breaking(context, std::move(parent), std::move(find), revocation, to))->start();
}

}  // namespace holdfast::zookeeper
