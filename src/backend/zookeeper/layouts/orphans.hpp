// Nodes that nobody waits for any more: removed until they are gone, as Curator's guaranteed
// deletes are, as long as the session lives.
#pragma once
#include <list>
#include <string>

#include "backend/zookeeper/transport/reply_handler.hpp"
#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

class orphan_nodes;

enum class removed_by : unsigned char {
  name,       // of the node
  beginning,  // of the names: all nodes of the parent that have it
  content,    // of the node at this path: it begins with that, and this session made it
};

class orphan_node final : public reply_handler {
 public:
  // `parent`: of `content` the path itself.
  orphan_node(orphan_nodes& all, removed_by by, std::string parent, std::string text)
      : all_(all), by_(by), parent_(std::move(parent)), text_(std::move(text)) {}
  void start(time_point now);
  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool was_sent, const reply_context&) override;

  std::list<orphan_node>::iterator place;
  bool is_cut = false;
  time_point retry_at = base::never;

 private:
  void send(opcode, std::string body, time_point now);
  void remove_found(const reply&, time_point now);
  bool is_ours(const reply&) const;
  void finish(time_point now);

  orphan_nodes& all_;
  const removed_by by_;
  const std::string parent_, text_;
  bool looks_ = false;  // sync and a look are in flight; else deletes
  bool is_refused_ = false;
  unsigned awaited_ = 0;
};

// All with the transport's mutex held.
class orphan_nodes {
 public:
  void attach(transport& t) noexcept { over_ = &t; }
  void add(removed_by, std::string parent, std::string text, time_point now);
  void resume(time_point now);  // over a new connection
  void tick(time_point now);
  void clear() noexcept { items_.clear(); }  // they go with the session

 private:
  friend class orphan_node;
  std::list<orphan_node> items_;
  transport* over_ = nullptr;
};

}  // namespace holdfast::zookeeper
