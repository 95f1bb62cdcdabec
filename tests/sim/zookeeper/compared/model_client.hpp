// A client of the model alone, and time that a test lets pass.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/timeline.hpp"
#include "tests/sim/zookeeper/compared/shown_frame.hpp"
#include "tests/sim/zookeeper/model/ensemble.hpp"

namespace holdfast::sim::zk {

class passing_host final : public ensemble_host {
 public:
  moment now() override { return time_.now(); }
  void at(moment t, std::function<void()> what) override { time_.at(t, std::move(what)); }
  dice& chance() override { return dice_; }
  moment delay() override { return std::chrono::milliseconds(1); }
  void pass(moment lasts) {
    bool is_over = false;
    time_.at(time_.now() + lasts, [&] { is_over = true; });
    while (!is_over) time_.step();
  }

 private:
  timeline time_;
  dice dice_{1};
};

class model_client final : public peer {
 public:
  model_client(ensemble& e, int server) : all_(e), handle_(e.connect(*this, server)) {}
  ~model_client() { leave(); }
  model_client(const model_client&) = delete;
  model_client& operator=(const model_client&) = delete;

  void connect(std::int32_t timeout_ms, std::int64_t session = 0, std::string_view password = "");
  void ask(op, std::string body = {});
  void leave() { all_.disconnect(handle_); }
  // What came since, a frame a line: "expired", "session 2000 ms", "12 error 0 ...".
  std::string heard();
  bool is_closed() const noexcept { return is_kicked_; }
  std::int64_t session() const noexcept { return session_; }
  const std::string& password() const noexcept { return password_; }

 private:
  void deliver(std::string_view bytes) override { bytes_ += bytes; }
  void kicked() override { is_kicked_ = true; }
  std::string shown_greeting(std::span<const std::byte>);

  ensemble& all_;
  int handle_;
  bool is_kicked_ = false, is_greeted_ = false;
  std::string bytes_, password_;
  std::int64_t session_ = 0;
  std::int32_t last_number_ = 0;
};

std::string creation(std::string_view path, std::int32_t flags);
std::string watched(std::string_view path, bool watches = true);
std::string removal(std::string_view path);

}  // namespace holdfast::sim::zk
