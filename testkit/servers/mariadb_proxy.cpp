#include "testkit/servers/mariadb_proxy.hpp"

#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::testkit {
namespace {

constexpr std::size_t packet_header = 4;
constexpr char query_command = 3, prepare_command = 0x16, execute_command = 0x17;

// Its text, where it has one. Empty: it is no statement.
std::string_view statement_in(std::string_view bytes) {
  if (bytes.size() <= packet_header) return {};
  switch (bytes[packet_header]) {
    case query_command:
    case prepare_command: return bytes.substr(packet_header + 1);
    case execute_command: return "a prepared statement";
    default: return {};
  }
}

}  // namespace

// The proxy's thread asks it about all that arrives; the test commands it.
class mariadb_proxy::judge {
 public:
  explicit judge(const mariadb_server& server) : root_(server.root()) {}

  void order(std::uint64_t statement, fault_time t, statement_fault f) {
    const std::lock_guard guard(mutex_);
    ordered_ = {statement, t, f};
    struck_.clear();
    awaits_reply_ = 0;
  }
  std::string struck() const {
    const std::lock_guard guard(mutex_);
    return awaits_reply_ == 0 ? struck_ : std::string();
  }

  bool admits_statement(std::string_view bytes, const proxied_connection& from) {
    const std::string_view text = statement_in(bytes);
    const std::lock_guard guard(mutex_);
    if (text.empty() || !ordered_ || ordered_->statement-- > 0) return true;
    const order_given now = *std::exchange(ordered_, {});
    struck_ = text;
    fault_ = now.fault;
    if (now.time == fault_time::before) return harm(from);
    awaits_reply_ = from.number;
    return true;
  }
  bool admits_reply(const proxied_connection& of) {
    const std::lock_guard guard(mutex_);
    if (awaits_reply_ != of.number) return true;
    awaits_reply_ = 0;
    return harm(of);
  }

 private:
  struct order_given {
    std::uint64_t statement;
    fault_time time;
    statement_fault fault;
  };

  bool harm(const proxied_connection& c) {
    if (fault_ == statement_fault::cut) return false;
    const std::string place = "127.0.0.1:" + std::to_string(c.local_port);
    const std::string id =
        root_.query("SELECT ID FROM information_schema.PROCESSLIST WHERE HOST='" + place + '\'')
            .text();
    if (id.empty()) return true;
    if (fault_ == statement_fault::kill_query) {
      root_.error_of("KILL QUERY " + id);
      return true;
    }
    while (root_.error_of("KILL " + id) != sql_unknown_thread) {}
    return true;
  }

  mariadb_link root_;  // of the proxy's thread
  mutable std::mutex mutex_;
  std::optional<order_given> ordered_;
  statement_fault fault_{};
  std::string struck_;
  std::uint64_t awaits_reply_ = 0;  // the connection of the statement; 0: none
};

mariadb_proxy::mariadb_proxy(mariadb_server& server)
    : judge_(std::make_shared<judge>(server)), network_(server.port()) {
  network_.set(direction::to_server,
               {.admits = [j = judge_](std::string_view bytes, const proxied_connection& from) {
                 return j->admits_statement(bytes, from);
               }});
  network_.set(direction::to_client,
               {.admits = [j = judge_](std::string_view, const proxied_connection& of) {
                 return j->admits_reply(of);
               }});
}

mariadb_proxy::~mariadb_proxy() = default;

void mariadb_proxy::strike(std::uint64_t statement, fault_time t, statement_fault f) {
  judge_->order(statement, t, f);
}

std::string mariadb_proxy::struck() const { return judge_->struck(); }

}  // namespace holdfast::testkit
