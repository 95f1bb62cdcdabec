// The model and the real server, given the same requests.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/transport/jute.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "tests/sim/zookeeper/compared/model_client.hpp"
#include "tests/sim/zookeeper/compared/shown_frame.hpp"
#include "tests/sim/zookeeper/model/ensemble.hpp"

namespace holdfast::sim::zk {

class two_servers {
 public:
  two_servers();  // each alone
  virtual ~two_servers() = default;

  // A connection to each.
  class client final : public peer {
   public:
    // `place`: of the server, among those that are compared.
    client(two_servers&, std::string name, int place = 1);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // Each returns what the two answers differ in; "" when they do not.
    std::string connects();                     // with a new session
    std::string connects_as(const client&);     // attaches that one's session
    std::string differs(std::vector<request>);  // until all are answered
    // Requests that say how much their client has seen.
    std::string differs(std::vector<request> to_real, std::vector<request> to_model);
    std::string catches_up(bool in_any_order = false);  // with events
    // After which both servers close.
    std::string ends_with(std::vector<request>, bool in_any_order = false);
    std::string ends_with(std::string_view bytes, bool in_any_order = false);
    std::string answers_word(std::string_view word);  // with lines that begin alike
    // After a sync: with all that was written by others.
    std::string is_in_step(bool in_any_order = false);
    void leaves();  // the connections end, and no session
    const std::string& name() const noexcept { return name_; }
    std::int64_t last_zxid() const noexcept { return last_zxid_; }
    std::int64_t model_last_zxid() const noexcept { return model_last_zxid_; }

   private:
    // A follower may keep a reply until something else happens (ZOOKEEPER-4537).
    static constexpr std::int32_t nudge_xid = 0x7fffffff;

    void deliver(std::string_view bytes) override { model_bytes_ += bytes; }
    void kicked() override { is_kicked_ = true; }
    void send(std::string_view bytes);
    void number(std::vector<request>&);
    void send_nudge();
    void wait_for_all_written();
    bool take_nudge(std::int64_t& zxid);  // its answer, if it is there
    static std::string encoded(const std::vector<request>&);
    void send_to_real(std::string_view bytes);
    void send_to_model(std::string_view bytes);
    std::vector<std::string> real_frames(std::size_t replies);  // and the events between them
    std::vector<std::string> model_frames();
    std::string compared(std::size_t replies, bool in_any_order);
    std::string connects_with(std::int64_t real, std::string_view real_password, std::int64_t model,
                              std::string_view model_password);
    bool read_more();

    two_servers& servers_;
    const std::string name_;
    int socket_;
    int handle_;
    bool is_kicked_ = false, is_closed_ = false;
    std::string real_bytes_, model_bytes_;
    std::map<std::int32_t, op> asked_;  // by number
    std::int32_t last_number_ = 0;
    std::int64_t last_zxid_ = 0, model_last_zxid_ = 0;
    std::int64_t real_session_ = 0, model_session_ = 0;
    std::string real_password_, model_password_;
  };

 protected:
  two_servers(const ensemble_options&, std::unique_ptr<testkit::zookeeper_server> alone);

  virtual int real_port(int) const { return real_->port(); }
  virtual int model_server(int place) const { return place; }
  virtual void settle() {}  // after something was sent to the model
  passing_host host_;       // whose time stands still but for settle()
  ensemble model_;

 private:
  const std::unique_ptr<testkit::zookeeper_server> real_;
  server_names real_names_, model_names_;
  std::int64_t real_last_zxid_ = 0;  // that any client has seen
};

}  // namespace holdfast::sim::zk
