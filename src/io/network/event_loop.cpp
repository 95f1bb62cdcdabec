#include "io/network/event_loop.hpp"

#include <pthread.h>
#include <sched.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "base/quiet_thread.hpp"
#include "io/network/background_driver.hpp"
#include "io/network/leader_followers.hpp"
#include "io/network/network.hpp"
#include "io/network/socket_stream.hpp"
#include "io/network/tls_stream.hpp"
#include "io/network/watched_descriptor.hpp"

namespace holdfast::io {
namespace {

bool has_one_cpu() noexcept {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

// Creates the descriptors of Asio's reactor now. Asio would create them with the first socket, on a
// thread that cannot report that none is left.
void create_reactor(boost::asio::io_context& context) {
  try {
    const boost::asio::generic::stream_protocol::socket first(context);
  } catch (const boost::system::system_error& failed) {
    throw std::system_error(failed.code(), "holdfast cannot create its event loop");
  }
}

class shared_watch final : public base::descriptor_watch {
 public:
  explicit shared_watch(std::shared_ptr<watched_descriptor> w) : watched_(std::move(w)) {}
  ~shared_watch() override { watched_descriptor::drop(std::move(watched_)); }
  void set(base::readiness r) noexcept override { watched_->set(r); }
  void cancel() noexcept override { watched_->cancel(); }

 private:
  std::shared_ptr<watched_descriptor> watched_;
};

// The io_context, which one thread at a time runs, and its streams.
class asio_loop : public base::event_loop, public engine, public network {
 public:
  asio_loop() : network(static_cast<base::event_loop&>(*this)) { create_reactor(context); }
  // In a fork's child its mutexes may be locked by threads that do not exist there: leak it.
  static void operator delete(asio_loop* l, std::destroying_delete_t) {
    if (!l->is_of_this_process()) return;
    l->~asio_loop();
    ::operator delete(static_cast<void*>(l));
  }

  // base::event_loop
  std::unique_ptr<base::stream> connect(const base::address& a, const base::tls_terms* tls,
                                        base::stream_events& e) override {
    if (tls) return make_tls_stream(*this, a, *tls, e);
    const auto made = std::make_shared<socket_stream>(*this, a, e);
    made->connect();
    return std::make_unique<shared_stream<socket_stream>>(made);
  }
  std::unique_ptr<base::descriptor_watch> watch(int fd, base::readiness r,
                                                base::descriptor_events& e) override {
    const auto made = std::make_shared<watched_descriptor>(*this, fd, e);
    made->start(r);
    return std::make_unique<shared_watch>(made);
  }
  void forked() noexcept override { descriptors.close_all(); }

  // engine
  void run_once(base::duration limit) noexcept override {
    if (limit == base::duration::max())
      context.run_one();
    else
      context.run_one_for(limit);
  }
  void interrupt() noexcept override {
    if (interrupted_.exchange(true, std::memory_order_seq_cst)) return;
    boost::asio::post(context, [this] {
      interrupted_.store(false, std::memory_order_seq_cst);
      awake();
    });
  }
  bool is_busy() const noexcept override { return busy.load() > 0; }

 protected:
  ~asio_loop() override = default;
  // Called when no thread runs it any more.
  void end() noexcept {
    std::vector<std::shared_ptr<socket_stream>> all;
    std::vector<std::shared_ptr<watched_descriptor>> all_watches;
    {
      const std::lock_guard l(mutex);
      for (socket_stream* c : connections) all.push_back(c->shared_from_this());
      for (watched_descriptor* w : watches) all_watches.push_back(w->shared_from_this());
    }
    for (const auto& c : all) c->end();
    for (const auto& w : all_watches) w->end();
    context.poll();  // completes the operations in progress
  }

 private:
  std::atomic<bool> interrupted_{false};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> works_{
      context.get_executor()};
};

class driven_by_callers final : public asio_loop {
 public:
  driven_by_callers(base::loop_user& u, const char* thread_name)
      : leaders_(*this, u, has_one_cpu()) {
    background_.emplace(leaders_, *this, thread_name);
  }
  ~driven_by_callers() override {
    background_.reset();
    end();
  }
  void request_flush(bool at_once) noexcept override {
    if (!is_of_this_process()) return;
    if (at_once) {
      leaders_.write_now();
    } else if (leaders_.note_unflushed()) {
      background_->wake();
    }
    leaders_.promote();  // a reply may be awaited since
  }
  void attend() noexcept override {
    if (is_of_this_process()) background_->attend();
  }
  base::caller_driver* driver() noexcept override {
    return is_of_this_process() ? &leaders_ : nullptr;
  }

 private:
  void awake() noexcept override { leaders_.awake(); }

  leader_followers leaders_;
  std::optional<background_driver> background_;
};

class driven_by_thread final : public asio_loop {
 public:
  driven_by_thread(base::loop_user& u, const char* thread_name) : user_(u) {
    base::require_quiet_thread(thread_, thread_name, [this] { run(); });
  }
  ~driven_by_thread() override {
    ending_ = true;
    interrupt();
    base::end_quiet_thread(thread_);
    end();
  }
  void request_flush(bool) noexcept override {
    if (is_of_this_process() && sleeps_.load(std::memory_order_acquire)) interrupt();
  }
  void attend() noexcept override {}
  base::caller_driver* driver() noexcept override { return nullptr; }

 private:
  void awake() noexcept override { sleeps_.store(false, std::memory_order_relaxed); }
  void run() noexcept {
    while (!ending_) {
      sleeps_.store(true, std::memory_order_seq_cst);
      user_.flush();
      run_once(base::duration::max());
    }
  }

  base::loop_user& user_;
  pthread_t thread_{};
  std::atomic<bool> ending_{false};
  std::atomic<bool> sleeps_{false};
};

}  // namespace

std::unique_ptr<base::event_loop> make_event_loop(base::loop_user& u, base::driven_by driver,
                                                  const char* thread_name) {
  if (driver == base::driven_by::callers)
    return std::make_unique<driven_by_callers>(u, thread_name);
  return std::make_unique<driven_by_thread>(u, thread_name);
}

}  // namespace holdfast::io
