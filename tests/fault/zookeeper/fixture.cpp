#include "fixture.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "seam/client_options.hpp"

namespace holdfast::zookeeper_test {

namespace {

zookeeper::settings settings_for(const std::string& text) {
  const url where = url::parse(text);
  std::vector<url::option> own;
  const seam::client_options common = seam::read_client_options(where, own);
  return zookeeper::read_settings({where, common, own, {}, base::system_environment(), {}});
}

struct awaited_reply final : zookeeper::reply_handler {
  answer out;
  base::parker parker;
  void on_reply(const zookeeper::reply& r, const zookeeper::reply_context&) override {
    out.code = r.head.code;
    out.zxid = r.head.zxid;
    out.body.assign(reinterpret_cast<const char*>(r.body.data()), r.body.size());
    parker.signal();
  }
  void on_cut(bool, const zookeeper::reply_context&) override {
    out.was_cut = true;
    parker.signal();
  }
};

}  // namespace

zookeeper_server& shared_server() {
  static zookeeper_server server({.config = {"maxSessionTimeout=10000"}});
  return server;
}

session_client::session_client(const std::string& url)
    : settings_(settings_for(url)), transport_(base::system_environment(), settings_, *this) {}

session_client::~session_client() { transport_.stop(); }

answer session_client::call(opcode op, std::string body, std::string watched) {
  awaited_reply r;
  {
    const std::lock_guard guard(transport_.mutex());
    if (!transport_.of_session().submit(r, op, std::move(body), base::system_environment().now(),
                                        std::move(watched)))
      return {.was_cut = true};
  }
  transport_.request_flush(true);
  transport_.driver()->run_until_signalled(r.parker);
  return r.out;
}

answer session_client::create(const std::string& path, node_kind kind, acl_of whose) {
  std::string body;
  zookeeper::append_create(body, path, "data", kind, whose);
  return call(kind == node_kind::container ? opcode::create_container : opcode::create2,
              std::move(body));
}

answer session_client::remove(const std::string& path) {
  std::string body;
  zookeeper::append_delete(body, path, zookeeper::any_version);
  return call(opcode::remove, std::move(body));
}

answer session_client::exists(const std::string& path, bool watches) {
  std::string body;
  zookeeper::append_watched_path(body, path, watches);
  return call(opcode::exists, std::move(body), watches ? path : "");
}

answer session_client::set_data(const std::string& path, const std::string& data) {
  std::string body;
  zookeeper::append_set_data(body, path, data, zookeeper::any_version);
  return call(opcode::set_data, std::move(body));
}

std::string session_client::data_of(const std::string& path) {
  std::string body;
  zookeeper::append_watched_path(body, path, false);
  const answer a = call(opcode::get_data, std::move(body));
  const auto node = zookeeper::read_data(a.bytes());
  return a.code == error::ok && node ? std::string(node->data) : "";
}

std::vector<std::string> session_client::children_of(const std::string& path) {
  std::string body;
  zookeeper::append_watched_path(body, path, false);
  const answer a = call(opcode::get_children2, std::move(body));
  const auto all = zookeeper::read_children(a.bytes());
  if (a.code != error::ok || !all) return {};
  return {all->names.begin(), all->names.end()};
}

std::int64_t session_client::id() {
  const std::lock_guard guard(transport_.mutex());
  return transport_.of_session().id();
}

base::time_point session_client::deadline() {
  const std::lock_guard guard(transport_.mutex());
  return deadlines_[transport_.of_session().id()];
}

base::time_point session_client::deadline_of(std::int64_t id) {
  const std::lock_guard guard(transport_.mutex());
  return deadlines_.at(id);
}

zookeeper::server_mode session_client::mode() {
  const std::lock_guard guard(transport_.mutex());
  return transport_.of_session().mode();
}

int session_client::count(const std::string& word) {
  const std::lock_guard guard(transport_.mutex());
  return static_cast<int>(std::ranges::count(log_, word));
}

bool eventually_creates(session_client& c, const std::string& path) {
  return eventually([&] {
    const auto code = c.create(path).code;
    return code == error::ok || code == error::node_exists;
  });
}

std::int64_t eventual_owner_of_own(session_client& c, session_client& other) {
  std::int64_t owner = 0;
  EXPECT_TRUE(eventually([&] {
    (void)c.create("/own", node_kind::ephemeral);
    const answer seen = other.exists("/own", true);
    const auto stat = zookeeper::read_stat(seen.bytes());
    owner = seen.code == error::ok && stat ? stat->ephemeral_owner : 0;
    return owner != 0 && owner == c.id();
  }));
  return owner;
}

base::failure failure_to_open(const std::string& url) {
  try {
    session_client c(url);
    c.open();
    c.close();
    return {};
  } catch (const lock_error& e) {
    return {e.code(), e.what()};
  }
}

}  // namespace holdfast::zookeeper_test
