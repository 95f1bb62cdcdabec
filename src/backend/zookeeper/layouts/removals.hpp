// Nodes that nobody waits for any more: removed until they are gone, as Curator's guaranteed
// deletes are, as long as the session lives.
#pragma once
#include <list>
#include <string>

#include "backend/zookeeper/transport/reply_handler.hpp"
#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

class removals;

// The nodes of one parent whose names begin with a GUID of ours; or one whose name is known.
class removal final : public reply_handler {
 public:
  removal(removals& all, std::string parent, std::string name, bool is_known)
      : all_(all), parent_(std::move(parent)), name_(std::move(name)), is_known_(is_known) {}
  void start(time_point now);
  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool was_sent, const reply_context&) override;

  std::list<removal>::iterator place;
  bool is_cut = false;
  time_point retry_at = core::never;

 private:
  void send_list(time_point now);
  void remove_found(const reply&, time_point now);
  void send_delete(const std::string& name, time_point now);
  void finish(time_point now);

  removals& all_;
  const std::string parent_;
  const std::string name_;  // its beginning, unless it is known
  const bool is_known_;
  bool lists_ = false;  // sync and list are in flight; else deletes
  bool is_refused_ = false;
  unsigned awaited_ = 0;
};

// All with the transport's mutex held.
class removals {
 public:
  void attach(transport& t) noexcept { over_ = &t; }
  void add(std::string parent, std::string name, bool is_known, time_point now);
  void resume(time_point now);  // over a new connection
  void tick(time_point now);
  void clear() noexcept { items_.clear(); }  // they go with the session
  bool empty() const noexcept { return items_.empty(); }

 private:
  friend class removal;
  std::list<removal> items_;
  transport* over_ = nullptr;
};

}  // namespace holdfast::zookeeper
