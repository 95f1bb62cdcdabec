#include "backend/zookeeper/diagnosis/probe.hpp"

#include <utility>

namespace holdfast::zookeeper {

namespace {

constexpr std::chrono::seconds probe_closing_bound{1};

struct awaited_answer final : reply_handler {
  probe_answer out;
  base::parker parker;
  void on_reply(const reply& r, const reply_context& c) override {
    out.code = r.head.code;
    out.zxid = r.head.zxid;
    out.body.assign(reinterpret_cast<const char*>(r.body.data()), r.body.size());
    out.trip = c.now - c.sent;
    parker.signal();
  }
  void on_cut(bool, const reply_context&) override {
    out.was_cut = true;
    parker.signal();
  }
};

}  // namespace

probe::probe(base::environment& env, endpoint where)
    : env_(env), where_(std::move(where)), over_(env, where_, *this) {
  over_.open();
}

probe::~probe() {
  (void)over_.close(base::saturating_add(env_.now(), probe_closing_bound));
  over_.stop();
}

duration probe::timeout() {
  const std::lock_guard guard(over_.mutex());
  return over_.of_session().deadline().timeout();
}

probe_answer probe::call(opcode op, std::string body) {
  awaited_answer a;
  {
    const std::lock_guard guard(over_.mutex());
    if (!over_.of_session().submit(a, op, std::move(body), env_.now())) return {.was_cut = true};
  }
  over_.request_flush(true);
  base::caller_driver* const by = over_.driver();
  by ? by->run_until_signalled(a.parker) : a.parker.park();
  return std::move(a.out);
}

}  // namespace holdfast::zookeeper
