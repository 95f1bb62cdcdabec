#include "backend/redis/topologies/cluster/cluster_link.hpp"

#include <utility>

#include "backend/redis/transport/error_text.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;

cluster_link::cluster_link(io::client_reactor& r, endpoint e, listener& l)
    : side_connection_owner(r),
      endpoint_(std::move(e)),
      listener_(l),
      asks_(*this, endpoint_, lane::commands, channels_) {}

std::shared_ptr<io::attached_stream> cluster_link::connect(connection&, failure& why) {
  return reactor_.connect(asks_, endpoint_.where, endpoint_.tls_or_none(), base::driven_by::thread,
                          why);
}

void cluster_link::ask(time_point now) {
  is_wanted_ = true;
  if (!asks_.is_ready()) {
    asks_.retry_now(now);
    return asks_.open(now);
  }
  if (std::exchange(is_asking_, true)) return;
  append_command(asks_.out(), "CLUSTER", "NODES");
  asks_.expect(reply_, 1, now, attended::in_background);
  reactor_.request_flush_of_own_loop(true);
}

void cluster_link::on_answered(const value& v, const reply_context& c) {
  is_asking_ = false;
  if (v.is(value::kind::error)) {
    const bool is_single = v.text().find("cluster support disabled") != std::string_view::npos;
    const error_meaning* const m = meaning_of(v.text());
    if (m && m->is_passing) return asks_.end({m->why, explain(v.text())}, c.now, c.events);
    return asks_.refuse(is_single
                            ? failure{errc::bad_url,
                                      "the server is not a node of a cluster; open it as redis://"}
                            : failure{m ? m->why : errc::refused, explain(v.text())},
                        c.now, c.events);
  }
  const auto all = read_cluster_nodes(v.text(), endpoint_.where);
  if (!all)
    return asks_.end({errc::unavailable, "its answer to CLUSTER NODES cannot be read"}, c.now,
                     c.events);
  fault_ = {};
  listener_.on_reported(*all, c.now, c.events);
}

void cluster_link::rest(time_point now, event_queue& events) {
  is_resting_ = true;
  asks_.end({errc::unavailable, "the connection was only a query"}, now, events);
  is_resting_ = false;
}

void cluster_link::on_down(connection&, const failure& why, loss, time_point now, event_queue&) {
  is_wanted_ = is_asking_ = false;
  if (is_resting_) return;
  fault_ = why;
  listener_.on_silent_node(now);
}

void cluster_link::write(std::unique_lock<std::mutex>& lock) noexcept {
  write_out(asks_, lock, [](connection&) {});
}

}  // namespace holdfast::redis
