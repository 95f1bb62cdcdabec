#include "backend/redis/layouts/retrying_queries.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "backend/redis/layouts/admin_query.hpp"

namespace holdfast::redis {

namespace {

class holder_query final : public admin_query {
 public:
  holder_query(transport& t, const retrying_codec& c, std::string key, std::string_view name,
               core::holders_handler& to)
      : admin_query(t), codec_(c), key_(std::move(key)), name_(name), to_(to) {}

 private:
  void send_next(time_point now, core::event_queue& events) override {
    std::string bytes;
    codec_.append_look(bytes, key_);
    send(std::move(bytes), now, events);
  }
  void read(const value& v) override { found_ = codec_.read_look(v); }
  void on_all_read(time_point, core::event_queue& events) override { finish(events); }
  void report() override {
    if (why.code) return to_.on_failed(std::move(why));
    std::vector<holder> all;
    if (found_) {
      found_->name = name_;
      all.push_back(std::move(*found_));
    }
    to_.on_holders(std::move(all));
  }

  const retrying_codec& codec_;
  const std::string key_, name_;
  core::holders_handler& to_;
  std::optional<holder> found_;
};

// Releases the lock under the owner that somebody saw.
class break_query final : public admin_query {
 public:
  break_query(transport& t, const retrying_codec& c, std::string_view key, std::string_view seen,
              core::decision_handler& to)
      : admin_query(t), codec_(c), key_(key), seen_(seen), to_(to) {}

 private:
  void send_next(time_point now, core::event_queue& events) override {
    std::string bytes;
    codec_.append_break(bytes, key_, seen_);
    send(std::move(bytes), now, events);
  }
  void read(const value& v) override {
    retrying_reply r;
    r.to = retrying_operation::release;
    is_done_ = codec_.read(v, r).what == retrying_reply::verdict::done;
  }
  void on_all_read(time_point, core::event_queue& events) override { finish(events); }
  void report() override { why.code ? to_.on_failed(std::move(why)) : to_.on_decided(is_done_); }

  const retrying_codec& codec_;
  const std::string key_, seen_;
  core::decision_handler& to_;
  bool is_done_ = false;
};

}  // namespace

void start_holder_query(transport& over, const retrying_codec& c, std::string_view prefix,
                        std::string_view name, core::holders_handler& to) {
  (new holder_query(over, c, std::string(prefix).append(name), name, to))->start();
}

void start_breaking(transport& over, const retrying_codec& c, std::string_view key,
                    std::string_view seen, core::decision_handler& to) {
  (new break_query(over, c, key, seen, to))->start();
}

}  // namespace holdfast::redis
