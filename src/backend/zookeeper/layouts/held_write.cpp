#include "backend/zookeeper/layouts/held_write.hpp"

#include <utility>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

namespace {

class held_write_query final : public node_query<std::int32_t> {
 public:
  held_write_query(const query_context& context, const std::vector<std::string>& lock_nodes,
                   const held_write& w, version_handler& to)
      : node_query(context, to),
        path_(w.path),
        checks_(lock_nodes.size()),
        body_(held_write_body(lock_nodes, w)) {}

 private:
  void send_first(base::time_point now) override {
    if (body_.size() > request_bytes_max)
      return fail({errc::refused, "the value and the paths of the lock's nodes are longer than "
                                  "one transaction of ZooKeeper, and nothing was written"});
    send(opcode::multi, std::move(body_), now);
  }

  void read(std::size_t, const reply& r, base::time_point) override {
    if (!r.is_ok()) return fail({errc_of(r.head.code), explain(r.head.code, path_)});
    const auto done = read_multi(r.body);
    if (!done) return fail({errc::unavailable, std::string(malformed_reply)});
    result = done->set.version;
    if (done->code == error::ok) return;
    if (done->failed_at < checks_ && done->code == error::no_node)
      return fail(
          {errc::lost, "the lease was lost: its node no longer exists, and nothing was written"});
    fail(refusal(done->code));
  }
  base::failure refusal(error e) const {
    switch (e) {
      case error::no_node: return {errc::refused, "there is no node " + path_ + "; create it"};
      case error::bad_version: return {errc::mismatch, path_ + " has changed since it was read"};
      case error::bad_arguments: return {errc::refused, path_ + " is not a path"};
      case error::no_auth:
        return {errc::refused, "the ACL of " + path_ + " refuses this user; it needs w there"};
      default: return {errc_of(e), explain(e, path_)};
    }
  }

  const std::string path_;
  const std::size_t checks_;  // before the write
  std::string body_;
};

}  // namespace

std::string held_write_body(std::span<const std::string> lock_nodes, const held_write& w) {
  std::string out;
  multi_writer all(out);
  for (const std::string& path : lock_nodes)
    if (!base::planted(base::mutant::held_write_unchecked)) all.check(path, any_version);
  all.set_data(w.path, w.value, w.version).end();
  return out;
}

void start_held_write(const query_context& context, const std::vector<std::string>& lock_nodes,
                      const held_write& w, version_handler& to) {
  (new held_write_query(context, lock_nodes, w, to))->start();
}

}  // namespace holdfast::zookeeper
