#include "backend/redis/query.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/redis/link.hpp"

namespace holdfast::redis {

namespace {

using core::crier;
using core::failure;
using core::tell;

// A question of several commands, one after the other. Ends itself when its answer is told.
class question : public answerer, protected core::news {
 public:
  explicit question(link& l) noexcept : over(l) {}
  virtual ~question() = default;

  void start() {
    link& l = over;  // another thread may tell the answer and end this
    crier cry;
    {
      const std::lock_guard guard(l.mutex());
      const time_point now = l.env().now();
      l.count(1, 0, now);
      ask(now, cry);
    }
    l.collected(true);
    cry.tell_all();
  }

 protected:
  virtual void ask(time_point now, crier&) = 0;
  virtual void tell_answer() = 0;

  void send(std::string&& bytes, time_point now, crier& cry) {
    if (!over.ask_special(*this, std::move(bytes), now))
      finish({errc::unavailable, over.why_not()}, now, cry);
  }
  void cut(time_point now, crier& cry) override {
    if (--awaited > 0) return;
    finish({errc::unavailable, "the connection was lost"}, now, cry);
  }
  void finish(failure f, time_point now, crier& cry) {
    why = std::move(f);
    over.count(-1, 0, now);
    cry.post(*this, tell::ended);
  }
  void say(tell) override {
    tell_answer();
    retire();
  }
  void give_back() noexcept override { delete this; }

  link& over;
  failure why;
  std::size_t awaited = 0;
};

// A script that answers {1 yes | 0 no | 3 ask again}.
class yes_or_no final : public question {
 public:
  yes_or_no(link& l, std::string&& bytes, core::verdict& v)
      : question(l), bytes_(std::move(bytes)), to_(v) {}

 private:
  void ask(time_point now, crier& cry) override {
    awaited = 1;
    send(std::string(bytes_), now, cry);
  }
  void answered(const value& v, time_point now, time_point, crier& cry) override {
    constexpr std::int64_t again = 3;
    if (v.is(value::kind::error))
      return finish({read_error(v, {}).why, explain(v.text())}, now, cry);
    if (v[0].integer() == again) return ask(now, cry);
    was_ = v[0].integer() == 1;
    finish({}, now, cry);
  }
  void tell_answer() override { why.code ? to_.failed(std::move(why)) : to_.decided(was_); }

  const std::string bytes_;
  core::verdict& to_;
  bool was_ = false;
};

// SCAN for the side keys; then of each lock its owner, its ttl and its line; then, of those that
// are held, what is known of the holder.
class inspection final : public question {
 public:
  inspection(link& l, std::string_view prefix, core::inspection& to)
      : question(l), prefix_(l.how().prefix + std::string(prefix)), to_(to) {
    if (!prefix.empty()) names_.push_back(prefix_);
  }

 private:
  enum class stage { scan, locks, holders };

  void ask(time_point now, crier& cry) override {
    std::string bytes;
    command(bytes, 6) << "SCAN" << cursor_ << "MATCH" << side_keys_pattern << "COUNT"
                      << "1000";
    awaited = 1;
    send(std::move(bytes), now, cry);
  }

  void answered(const value& v, time_point now, time_point, crier& cry) override {
    if (v.is(value::kind::error) && !v.is_error("WRONGTYPE"))
      return finish({read_error(v, {}).why, explain(v.text())}, now, cry);
    --awaited;
    switch (stage_) {
      case stage::scan: return scanned(v, now, cry);
      case stage::locks: part_of_lock(v); break;
      case stage::holders: describe(found_[described_++], v.text()); break;
    }
    if (awaited > 0) return;
    if (stage_ == stage::locks) return ask_holders(now, cry);
    finish({}, now, cry);
  }

  void scanned(const value& v, time_point now, crier& cry) {
    cursor_ = v[0].text();
    for (std::size_t i = 0; i < v[1].size(); ++i) {
      const auto lock = lock_of(v[1][i].text());
      if (lock && lock->starts_with(prefix_)) names_.emplace_back(*lock);
    }
    if (cursor_ != "0") return ask(now, cry);
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    ask_locks(now, cry);
  }

  void ask_locks(time_point now, crier& cry) {
    stage_ = stage::locks;
    if (names_.empty()) return finish({}, now, cry);
    awaited = 3 * names_.size();
    for (const std::string& k : names_) {
      const side_key line{tag_of(k), k, 'q'};
      send_one(now, cry, [&](std::string& out) { command(out, 2) << "GET" << k; });
      send_one(now, cry, [&](std::string& out) { command(out, 2) << "PTTL" << k; });
      send_one(now, cry, [&](std::string& out) { command(out, 2) << "ZCARD" << line; });
    }
  }

  template <class Write>
  void send_one(time_point now, crier& cry, Write write) {
    std::string bytes;
    write(bytes);
    send(std::move(bytes), now, cry);
  }

  void part_of_lock(const value& v) {
    const std::size_t n = asked_ / 3;
    switch (asked_++ % 3) {
      case 0: owner_ = v.is(value::kind::text) ? v.text() : ""; return;
      case 1: left_ = v.integer(); return;
      default: break;
    }
    if (owner_.empty()) return;
    holder h;
    h.name = names_[n].substr(over.how().prefix.size());
    h.owner = owner_;
    if (left_ >= 0) h.left = std::chrono::milliseconds{left_};
    h.waiting = static_cast<int>(v.integer());
    found_.push_back(std::move(h));
  }

  void ask_holders(time_point now, crier& cry) {
    stage_ = stage::holders;
    if (found_.empty()) return finish({}, now, cry);
    awaited = found_.size();
    for (const holder& h : found_) {
      const std::string k = over.how().prefix + h.name;
      const side_key notes{tag_of(k), k, 'm'};
      send_one(now, cry, [&](std::string& o) { command(o, 3) << "HGET" << notes << h.owner; });
    }
  }

  // host|pid|since|note
  void describe(holder& h, std::string_view about) const {
    const auto part = [&about] {
      const std::size_t end = std::min(about.find('|'), about.size());
      const std::string_view out = about.substr(0, end);
      about.remove_prefix(std::min(end + 1, about.size()));
      return out;
    };
    if (std::count(about.begin(), about.end(), '|') < 3) return;
    std::int64_t since = 0;
    h.host = part();
    const std::string_view pid = part(), from = part();
    std::from_chars(pid.data(), pid.data() + pid.size(), h.pid);
    std::from_chars(from.data(), from.data() + from.size(), since);
    h.note = about;
    const auto now = std::chrono::floor<std::chrono::milliseconds>(over.env().wall());
    h.held = std::max(std::chrono::milliseconds{0}, now - std::chrono::milliseconds{since});
  }

  void tell_answer() override {
    why.code ? to_.failed(std::move(why)) : to_.found(std::move(found_));
  }

  const std::string prefix_;
  core::inspection& to_;
  stage stage_ = stage::scan;
  std::string cursor_ = "0";
  std::vector<std::string> names_;
  std::vector<holder> found_;
  std::string owner_;
  std::int64_t left_ = 0;
  std::size_t asked_ = 0, described_ = 0;
};

}  // namespace

void start_inspection(link& over, std::string_view prefix, core::inspection& to) {
  (new inspection(over, prefix, to))->start();
}

void start_breaking(link& over, std::string_view lock, std::string_view owner, core::verdict& to) {
  std::string bytes;
  append_take_away(bytes, lock, owner);
  (new yes_or_no(over, std::move(bytes), to))->start();
}

void start_guarded_write(link& over, const core::guarded_write& what, core::verdict& to) {
  std::string bytes;
  append_guarded_write(bytes, what);
  (new yes_or_no(over, std::move(bytes), to))->start();
}

}  // namespace holdfast::redis
