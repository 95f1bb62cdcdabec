// The query for the holders of locks, as far as it is the same for all layouts.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

enum class query_scope : unsigned char { one_lock, all_that_begin_so };

// Lists the locks below the chroot, where it is not about one, and has the layout below ask about
// each: lists of nodes, and the nodes of the holders. Behind a sync: a lock that was granted before
// is seen at each server.
class holders_query : public node_query<std::vector<holder>> {
 public:
  // `name`: of the lock, or what the names begin with.
  holders_query(const query_context& context, const std::string& chroot, std::string_view name,
                query_scope scope, seam::holders_handler& to)
      : node_query(context, to), chroot_(chroot), name_(name), scope_(scope) {}

 protected:
  struct question {
    enum { sync, locks, list, node } about;
    std::string path;
    holder found;       // list, node: what is known of it
    unsigned kind = 0;  // list: the layout's own
  };

  virtual void ask_about(const std::string& name, time_point now) = 0;
  // An answer to ask_list(); null: there is no such node, or none that may be read.
  virtual void read_list(question, const node_children*, time_point now) = 0;
  // Adds what the node shows. False: it holds no lock.
  virtual bool read_holder(const node_data& node, holder& h) {
    fill(h, node, read_node_owner(node.data));
    return true;
  }

  void ask_list(std::string path, holder known, time_point now, unsigned kind = 0);
  void ask_node(std::string path, holder known, time_point now);
  // All but its name, its owner, and what it holds.
  void fill(holder&, const node_data&, node_owner owner) const;
  const std::string& chroot() const noexcept { return chroot_; }

 private:
  void send_first(time_point now) final;
  void read(std::size_t, const reply&, time_point now) final;
  void read_answer(const reply&, time_point now);
  void read_locks(const node_children&);
  void ask_more(time_point now);
  void ask_again(const std::string& name, time_point now);
  void complete(std::vector<holder>& all) final;

  const std::string chroot_, name_;
  const query_scope scope_;
  std::deque<question> asked_;     // in the order of sending
  std::deque<std::string> names_;  // of locks that are not asked about yet
  int repeats_left_ = 64;
};

}  // namespace holdfast::zookeeper
