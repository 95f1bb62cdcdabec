// Which channels somebody listens to, what the server has confirmed of them, and who receives a
// message. Pure: the transport sends what has to be sent.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/environment.hpp"
#include "base/event_queue.hpp"

namespace holdfast::redis {

using base::duration;
using base::time_point;

// A message to a sharded channel goes to the servers of the channel's slot in a cluster, and only
// to clients that have subscribed to it as a sharded channel. Servers before Redis 7.0 have no such
// channels: there it is a plain one.
enum class channel_kind : unsigned char { plain, sharded };

// Called with the reactor's mutex held.
class message_handler {
 public:
  // From here on every message arrives; those before may be lost. Called anew after a reconnect.
  virtual void on_subscribed(time_point now, base::event_queue&) = 0;
  // The server has ended the subscription, because the slot of the channel has another master.
  virtual void on_unsubscribed(time_point, base::event_queue&) {}
  virtual void on_message(std::string_view payload, time_point now, base::event_queue&) = 0;

 protected:
  ~message_handler() = default;
};

class subscriptions {
 public:
  // Once for each handler and channel, of which the kind never changes.
  void add(std::string_view channel, message_handler&, channel_kind = channel_kind::plain);
  // A channel that nobody listens to any more is kept for a moment: the next claim on the same lock
  // often comes soon.
  void remove(std::string_view channel, message_handler&, time_point now);
  bool is_active(std::string_view channel) const noexcept;  // confirmed by the server
  bool is_sharded(std::string_view channel) const noexcept;

  // request(channel) for each that was not asked for, unless it is sharded and unused.
  template <class Request>
  void request_missing(Request request) {
    request_some(request, [](const channel&) { return true; });
  }
  // Without the sharded ones, whose slots the server may have lost.
  template <class Request>
  void request_missing_plain(Request request) {
    request_some(request, [](const channel& c) { return c.kind == channel_kind::plain; });
  }
  // give_up(channel) for each that has been without a listener for long enough.
  template <class GiveUp>
  void drop_unused(time_point now, GiveUp give_up) {
    while (next_drop() <= now) {
      const auto found = channels_.find(unused_.front().name);
      const bool is_unused = found != channels_.end() && found->second.unused_until <= now;
      if (is_unused && found->second.is_requested && !found->second.is_active) {
        keep_unused(found->first, found->second, now);  // its confirmation is still to come
      } else if (is_unused) {
        if (found->second.is_active) give_up(std::string_view(found->first));
        channels_.erase(found);
      }
      unused_.pop_front();
    }
  }
  time_point next_drop() const noexcept {  // `never`: nothing is unused
    return unused_.empty() ? base::never : unused_.front().until;
  }

  void on_confirmed(std::string_view channel) noexcept;
  // A request was refused; the answer does not name the channel. All that are not confirmed are to
  // be requested again.
  void on_refused() noexcept;
  // Tells those who listen to a channel that is active; to all of them, without a channel.
  void notify_subscribed(time_point now, base::event_queue&);
  void notify_subscribed(std::string_view channel, time_point now, base::event_queue&);
  void on_message(std::string_view channel, std::string_view payload, time_point now,
                  base::event_queue&);
  void on_lost() noexcept;  // the connection: all is to be asked for anew
  // The server has ended the subscription by itself. False: there was none.
  bool on_ended(std::string_view channel, time_point now, base::event_queue&);

  // The client's own channel, to which no other client publishes; empty: none. It shows which
  // connections are to the server of the connection for messages, where no run_id does: PUBLISH
  // returns how many clients of that server itself subscribe to it. That a message arrives shows
  // nothing, since replicas pass messages on.
  const std::string& own() const noexcept { return own_; }
  // Called for each new connection for messages: its predecessor may still be open at another
  // server.
  void renew_own(std::uint64_t random);
  void drop_own() noexcept { own_.clear(); }  // the user may not subscribe to it

 private:
  struct channel {
    std::vector<message_handler*> handlers;
    bool is_requested = false, is_active = false;
    channel_kind kind = channel_kind::plain;
    time_point unused_until = base::never;
    // The slot of an unused sharded channel may have left the server, which would refuse it.
    bool is_wanted() const noexcept { return kind == channel_kind::plain || !handlers.empty(); }
  };
  struct text_hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using table = std::unordered_map<std::string, channel, text_hash, std::equal_to<>>;
  struct unused {
    time_point until;
    std::string name;
  };
  void keep_unused(std::string_view name, channel&, time_point now);
  template <class Call>
  void call_each(std::string_view name, Call);
  template <class Request, class Choose>
  void request_some(Request request, Choose is_chosen) {
    for (auto& [name, c] : channels_)
      if (!c.is_requested && c.is_wanted() && is_chosen(c)) {
        c.is_requested = true;
        request(std::string_view(name));
      }
  }

  table channels_;
  std::deque<unused> unused_;  // in the order of time; some are used again
  std::string own_;
};

}  // namespace holdfast::redis
