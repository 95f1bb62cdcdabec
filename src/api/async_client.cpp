// The library's side of holdfast/asio.hpp for a client's own operations.
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <holdfast/detail/async.hpp>

#include "api/async_operation.hpp"
#include "api/client_access.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"

namespace holdfast::inline v0::detail {

using base::failure;

namespace {

// Runs a blocking job on a thread of its own, and then answers with its code.
void on_a_thread(const char* name, const answer_to& a, std::function<std::error_code()> job) {
  try {
    const std::shared_ptr<base::worker> thread = base::system_environment().make_worker(name);
    thread->post([thread, job = std::move(job), a] { answer_at_once(*a, job()); });
  } catch (const std::system_error&) {  // no thread can be started
    answer_at_once(*a, errc::unavailable);
  }
}

class async_opening final : public async_operation {
 public:
  async_opening(std::string_view url, const open_options& o, std::shared_ptr<client> into,
                answer_to a)
      : url_(url),
        password_(o.password),
        options_(o),
        into_(std::move(into)),
        answer_(std::move(a)) {
    options_.password = password_;
  }

  void begin(async_op self) override {
    on_a_thread("holdfast-open", answer_, [this, kept = std::move(self)] { return open(); });
  }
  void withdraw() noexcept override { stop_.request_stop(); }

 private:
  // The caller gets only the code; the text is logged.
  std::error_code open() {
    try {
      *into_ = client::open(url_, options_, stop_.get_token());
      return {};
    } catch (const lock_error& failed) {
      const base::log_sink log{options_.log, options_.log_context};
      if (failed.code() != errc::canceled) base::log(log, log_level::warning, failed.what());
      return failed.code();
    }
  }

  const std::string url_, password_;
  open_options options_;
  const std::shared_ptr<client> into_;
  const answer_to answer_;
  std::stop_source stop_;
};

// An admin query to the store; it lives until it is answered.
template <class T>
struct pending_query final : seam::result_handler<T> {
  pending_query(std::shared_ptr<client_impl> c, std::shared_ptr<T> to, answer_to a)
      : client(std::move(c)), into(std::move(to)), answer(std::move(a)) {}
  void on_result(T result) override {
    if constexpr (std::is_same_v<T, std::vector<holder>>) sort_by_name(result);
    *into = std::move(result);
    end({});
  }
  void on_failed(failure why) override { end(why.code); }
  void end(std::error_code code) noexcept {
    async_operation::deliver_answer(answer, code, nullptr, *client, std::move(self));
  }

  const std::shared_ptr<client_impl> client;
  const std::shared_ptr<T> into;
  const answer_to answer;
  std::shared_ptr<void> self;
};

// Calls `ask` with a new query, unless `check` throws.
template <class T, class Check, class Ask>
void start_query(const client& c, std::shared_ptr<T> into, answer_to a, Check check, Ask ask) {
  std::error_code code;
  base::in_either_form(&code, [&] { check(client_access::shared(c).get()); });
  if (code) return answer_at_once(*a, code);
  const auto q =
      std::make_shared<pending_query<T>>(client_access::shared(c), std::move(into), std::move(a));
  q->self = q;
  ask(*q->client, *q);
}

}  // namespace

async_op opening_of(std::string_view url, const open_options& o, std::shared_ptr<client> into,
                    answer_to a) {
  return std::make_shared<async_opening>(url, o, std::move(into), std::move(a));
}

void begin_closing(const client& c, std::shared_ptr<bool> into, answer_to a) {
  on_a_thread("holdfast-close", a, [closing = c, into = std::move(into)]() mutable {
    *into = closing.close();
    return std::error_code();
  });
}

void begin_inspection(const client& c, std::string_view prefix,
                      std::shared_ptr<std::vector<holder>> into, answer_to a) {
  start_query(
      c, std::move(into), std::move(a), [](client_impl* impl) { (void)require_open(impl, "list"); },
      [&](client_impl& impl, auto& to) { impl.stores().inspect(prefix, to); });
}

void begin_holders(const client& c, std::string_view name,
                   std::shared_ptr<std::vector<holder>> into, answer_to a) {
  start_query(
      c, std::move(into), std::move(a),
      [&](client_impl* impl) { (void)require_named(impl, "holders", name); },
      [&](client_impl& impl, auto& to) { impl.stores().holders(name, to); });
}

void begin_examination(const client& c, std::shared_ptr<std::vector<finding>> into, answer_to a) {
  start_query(
      c, std::move(into), std::move(a),
      [](client_impl* impl) { (void)require_open(impl, "diagnose"); },
      [](client_impl& impl, auto& to) { impl.connection().diagnose(to); });
}

void begin_breaking(const client& c, std::string_view name, std::string_view seen,
                    std::shared_ptr<bool> into, answer_to a) {
  start_query(
      c, std::move(into), std::move(a),
      [&](client_impl* impl) { (void)require_named(impl, "break_lock", name); },
      [&](client_impl& impl, auto& to) { impl.stores().break_lock(name, seen, to); });
}

std::shared_ptr<client_impl> client_of(const client& c) { return client_access::shared(c); }

}  // namespace holdfast::inline v0::detail
