#ifdef HOLDFAST_WITH_MEMORY
#include <atomic>

#include "subject.hpp"

namespace contract {
namespace {

class memory_subject final : public subject {
 public:
  std::string url() const override { return store_.url(); }
  std::string short_lived_url() const override {
    return store_.url() + "?ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=200ms";
  }
  void lose_leases_of(const holdfast::client& c) override { store_.stop_requests_of(c); }
  void stop(const holdfast::client& c) override { store_.stop_requests_of(c); }
  void go_on(const holdfast::client& c) override { store_.resume_requests_of(c); }
  void begin_outage() override { store_.begin_outage(); }
  void end_outage() override { store_.end_outage(); }
  void lose_next_reply() override { store_.lose_replies(1); }

 private:
  static std::string fresh_name() {
    static std::atomic<int> count{0};
    return "contract-" + std::to_string(++count);
  }

  holdfast::memory_store store_{fresh_name()};
};

}  // namespace

std::unique_ptr<subject> make_memory_subject(std::string_view) {
  return std::make_unique<memory_subject>();
}

}  // namespace contract
#endif
