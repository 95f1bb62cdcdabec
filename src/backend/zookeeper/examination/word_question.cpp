#include "backend/zookeeper/examination/word_question.hpp"

#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/fail.hpp"
#include "base/parker.hpp"

namespace holdfast::zookeeper {

namespace {

constexpr std::size_t answer_max = 65'536;
constexpr const char* thread_name = "holdfast-zk-ask";

class word_question final : core::stream_events, core::loop_user, core::alarm_target {
 public:
  word_question(core::environment& env, std::string_view word) : env_(env), word_(word) {}

  word_answer run(const core::address& where, const core::tls_terms* tls, core::duration most) {
    std::unique_ptr<core::stream> stream;
    auto alarm = env_.make_alarm(*this, thread_name);
    auto loop = env_.make_loop(*this, core::driven_by::thread, thread_name);
    try {
      if (!loop || !alarm->set(core::saturating_add(env_.now(), most)))
        return {{}, false, {errc::unavailable, "no thread can be started to ask it"}};
      const std::lock_guard guard(mutex_);
      stream = loop->connect(where, tls, *this);
      stream_ = stream.get();
    } catch (const std::system_error& failed) {
      return {{}, false, core::shortage_of(failed)};
    }
    parker_.park();
    alarm.reset();
    loop.reset();  // no event comes any more
    if (!answer_.text.empty()) answer_.why = {};
    return std::move(answer_);
  }

 private:
  void on_open() override {
    const std::lock_guard guard(mutex_);
    answer_.was_open = true;
    stream_->write(std::as_bytes(std::span(word_)));
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    const std::lock_guard guard(mutex_);
    if (answer_.text.size() > answer_max) return;
    answer_.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void on_closed(core::failure why) override { end(std::move(why)); }
  void on_alarm(core::time_point) override {
    end({errc::unavailable, "it does not answer within the op-timeout"});
  }
  void end(core::failure why) {
    {
      const std::lock_guard guard(mutex_);
      if (std::exchange(has_ended_, true)) return;
      answer_.why = std::move(why);
    }
    parker_.signal();
  }
  void flush() noexcept override {}
  bool has_pending_replies() const noexcept override { return true; }

  core::environment& env_;
  const std::string word_;
  core::parker parker_;
  std::mutex mutex_;  // guards everything below
  core::stream* stream_ = nullptr;
  word_answer answer_;
  bool has_ended_ = false;
};

}  // namespace

word_answer ask_word(core::environment& env, const core::address& where, const core::tls_terms* tls,
                     std::string_view word, core::duration most) {
  return word_question(env, word).run(where, tls, most);
}

}  // namespace holdfast::zookeeper
