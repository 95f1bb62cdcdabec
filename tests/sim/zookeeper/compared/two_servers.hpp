// The model and the real server, given the same requests.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/transport/jute.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "tests/sim/zookeeper/compared/shown_frame.hpp"
#include "tests/sim/zookeeper/model/ensemble.hpp"

namespace holdfast::sim::zk {

// Its time stands still: nothing happens by itself.
class still_host final : public ensemble_host {
 public:
  moment now() override { return std::chrono::hours(1); }
  void at(moment, std::function<void()>) override {}
  dice& chance() override { return dice_; }
  moment delay() override { return {}; }

 private:
  dice dice_{1};
};

class two_servers {
 public:
  two_servers();

  // A connection to each.
  class client final : public peer {
   public:
    client(two_servers&, std::string name);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // Each returns what the two answers differ in; "" when they do not.
    std::string connects();                             // with a new session
    std::string connects_as(const client&);             // attaches that one's session
    std::string differs(std::vector<request>);          // until all are answered
    std::string catches_up(bool in_any_order = false);  // with events
    std::string ends_with(std::vector<request>);        // after which both servers close
    std::string ends_with(std::string_view bytes);
    std::string answers_word(std::string_view word);  // with lines that begin alike
    std::int64_t last_zxid() const noexcept { return last_zxid_; }

   private:
    void deliver(std::string_view bytes) override { model_bytes_ += bytes; }
    void kicked() override { is_kicked_ = true; }
    void send(std::string_view bytes);
    std::string encoded(std::vector<request>&);
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
    std::int64_t last_zxid_ = 0;
    std::int64_t real_session_ = 0, model_session_ = 0;
    std::string real_password_, model_password_;
  };

 private:
  testkit::zookeeper_server real_;
  still_host host_;
  ensemble model_;
  session_names real_names_, model_names_;
};

}  // namespace holdfast::sim::zk
