// A layout of the retrying recipe at one server: what its claims send there, and the messages that
// they wait for.
#pragma once
#include <list>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/layout_node.hpp"
#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/layouts/server_orphan.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

// An owner that may be left at the server.
struct retrying_orphan final : server_orphan<retrying_orphan, retrying_node> {
  retrying_orphan(retrying_node&, const retrying_claim&, time_point end);
  retrying_orphan(retrying_node&, const retrying_orphan&);  // the same at another server
  withdrawal withdraw(time_point now);
  withdrawal take(const value&, time_point now);

  std::string key, owner;
  std::string seen;       // what the last step read
  std::uint8_t step = 0;  // of a withdrawal of several commands
  bool only_place = false;
  const retrying_owner id;
  const retrying_protocol::request_details details;
  const duration ttl;

 private:
  withdrawal send(time_point now);
  lock_request request() const;
};

class retrying_node final : public claims_node<retrying_layout, retrying_claim, retrying_orphan> {
 public:
  using request = batch<retrying_node, retrying_operation>;

  retrying_node(retrying_layout&, const settings&, transport&);

  // For the layout.
  void send(retrying_claim&, retrying_operation, time_point now);
  // not_now: on_subscribed() follows.
  retrying_reply::verdict subscribe(retrying_claim&, time_point now);
  void stop_listening(retrying_claim&) noexcept;
  void hand_over_unsent(const retrying_claim&, time_point now);  // to the server that it is at now
  // Its owner is about to be dropped, and may have had a place in a queue.
  void note_ended(const retrying_claim&, time_point now);
  // A claim whose lock has come to this server.
  void adopt(retrying_claim&, time_point now, base::event_queue&);

  // layout_node
  void retry_now(time_point by) override { over_.retry_now(lane::commands, by); }
  void detach() noexcept override;

  // request_source. It keeps what waits for on_agreed(), and concludes nothing from numbers.
  void write_requests(lane, request_writer&) override;
  void on_ready(lane, time_point now, base::event_queue&) override;
  void on_down(lane, const base::failure&, loss, time_point now, base::event_queue&) override;
  void on_tick(time_point now, base::event_queue&) override;

  // For its requests.
  void on_reply(request&, const value&, const reply_context&);
  void on_script_missing(request&, const reply_context&);
  void on_cut(request&, const reply_context&);
  void on_redirected(request&, const redirection&, const reply_context&);

 private:
  void write_renewals(request_writer&, time_point now) override;
  void cut(retrying_claim&, std::uint32_t epoch, const reply_context&);
  void withdraw_copied_places(time_point now);

  duration probe_pause() const noexcept { return settings_.op_timeout / 4; }
  void probe_messages(time_point now);
  void poll_meanwhile(time_point now, base::event_queue&);
  void begin_step(retrying_claim&, retrying_operation);
  lock_request request_of(const retrying_claim&, std::string_view owner) const noexcept;
  void write_collected(request_writer&, time_point now);
  void answer_renewals(request&, const value&, const reply_context&);
  void end_renewals(request&) noexcept;

  const settings& settings_;
  const retrying_codec& codec_;
  batch_pool<retrying_node, retrying_operation> pool_{*this};

  struct ended_owner {
    time_point at;
    retrying_orphan owner;
  };

  std::vector<request*> collected_;  // for the next write
  std::list<ended_owner> ended_;     // the last ones, in the order of their ends
  std::size_t listeners_ = 0;        // claims that wait for messages
};

}  // namespace holdfast::redis
