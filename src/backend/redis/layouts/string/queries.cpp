#include "backend/redis/layouts/string/queries.hpp"

#include <string>

#include "backend/redis/layouts/admin_query.hpp"
#include "backend/redis/layouts/string/codec.hpp"

namespace holdfast::redis {

namespace {

using core::event_queue;

// A script that answers {1 yes | 0 no | 3 ask again}.
class yes_or_no final : public admin_query<bool> {
 public:
  yes_or_no(transport& t, std::string&& bytes, core::decision_handler& v)
      : admin_query(t, v, own_errors()), bytes_(std::move(bytes)) {}

 private:
  void send_next(time_point now, event_queue& events) override {
    send(std::string(bytes_), now, events);
  }
  void read(const value& v) override { said_ = v[0].integer(); }
  void on_all_read(time_point now, event_queue& events) override {
    constexpr std::int64_t again = 3;
    said_ == again ? send_next(now, events) : finish(events);
  }
  void complete(bool& yes) override { yes = said_ == 1; }

  const std::string bytes_;
  std::int64_t said_ = 0;
};

}  // namespace

void start_breaking(transport& over, std::string_view lock, std::string_view owner,
                    core::decision_handler& to) {
  std::string bytes;
  append_break_lock(bytes, lock, owner, over.server_stamp());
  (new yes_or_no(over, std::move(bytes), to))->start();
}

void start_guarded_write(transport& over, const guarded_write& w, core::decision_handler& to) {
  std::string bytes;
  append_guarded_write(bytes, w);
  (new yes_or_no(over, std::move(bytes), to))->start();
}

}  // namespace holdfast::redis
