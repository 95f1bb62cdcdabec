#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/queries.hpp"
#include "base/number.hpp"
#include "base/words.hpp"

namespace holdfast::redis {

namespace {

using base::event_queue;
using base::leading_number;
using base::next_word;

constexpr std::size_t parts_of_lock = 4;
constexpr std::int64_t turns = 1024;  // a token is number * 1024 + turn

// SCAN for the side keys, unless one lock is named; then the time, and of each lock its owner, its
// ttl, its queue and its members; then the note of each holder.
class inspection final : public admin_query<std::vector<holder>> {
 public:
  inspection(const lock_server& s, std::string key_prefix, std::string_view name,
             query_scope extent, seam::holders_handler& to)
      : admin_query({s.over, extent == query_scope::one_lock ? s.of_others : nullptr},
                    key_prefix + std::string(name), to, own_errors()),
        key_prefix_(std::move(key_prefix)),
        prefix_(key_prefix_ + std::string(name)),
        extent_(extent) {
    if (is_of_one()) {
      begin_again();
      return;
    }
    if (!name.empty()) names_.push_back(prefix_);
    if (s.of_others) ask_for_keys();
  }

 private:
  enum class question { scan, locks, holders };

  bool is_of_one() const noexcept { return extent_ == query_scope::one_lock; }
  void begin_again() override {
    question_ = question::locks;
    names_.assign(1, prefix_);
    result.clear();
    asked_ = described_ = 0;
  }
  void send_next(time_point now, event_queue& events) override {
    if (question_ == question::locks) return ask_locks(now, events);
    ask(now, events, "SCAN", cursor_, "MATCH", side_keys_pattern, "COUNT", "1000");
  }

  // A key of another type is not a lock: a query for this one name reports it, since acquires are
  // refused, and a list leaves it out. Among many locks, one that this user may
  // not read is left out.
  bool is_failure(const value& v) const override {
    if (!v.is(value::kind::error)) return false;
    const bool is_owner = question_ == question::locks && asked_ % parts_of_lock == 1;
    // In a cluster the lock whose name is the prefix is at one of its servers.
    if (is_redirection(v)) return is_of_one();
    if (v.is_error("WRONGTYPE")) return is_of_one() && is_owner;
    return is_of_one() || !is_key_denied(v);
  }

  void read(const value& v) override {
    switch (question_) {
      case question::scan: return scanned(v);
      case question::locks: return part_of_lock(v);
      case question::holders: return describe(result[described_++], v.text());
    }
  }

  void on_all_read(time_point now, event_queue& events) override {
    switch (question_) {
      case question::scan: return cursor_ == "0" ? ask_locks(now, events) : send_next(now, events);
      case question::locks: return ask_holders(now, events);
      case question::holders: return finish(events);
    }
  }

  void scanned(const value& v) {
    cursor_ = v[0].text();
    for (std::size_t i = 0; i < v[1].size(); ++i) {
      const auto lock = lock_of(v[1][i].text());
      if (lock && lock->starts_with(prefix_)) names_.emplace_back(*lock);
    }
  }

  void ask_locks(time_point now, event_queue& events) {
    question_ = question::locks;
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    if (names_.empty()) return finish(events);
    if (!ask(now, events, "TIME")) return;
    for (const std::string& k : names_) {
      const std::string_view tag = tag_of(k);
      ask(now, events, "GET", k);
      ask(now, events, "PTTL", k);
      ask(now, events, "ZCARD", side_key{tag, k, 'q'});
      ask(now, events, "ZRANGE", side_key{tag, k, 'r'}, "0", "-1", "WITHSCORES");
    }
  }

  void part_of_lock(const value& v) {
    if (asked_++ == 0) {
      now_ = read_time(v);
      return;
    }
    switch ((asked_ - 2) % parts_of_lock) {
      case 0: owner_ = v.is(value::kind::text) ? v.text() : ""; return;
      case 1: left_ = v.integer(); return;
      case 2: waiting_ = static_cast<int>(v.integer()); return;
      default: take_members(v);
    }
    const std::size_t n = (asked_ - 2) / parts_of_lock;
    const auto total = semaphore_total(owner_);
    if (total || owner_.starts_with("hfg:")) {
      add_members(names_[n], total);
    } else if (!owner_.empty()) {
      holder h = holder_of(names_[n], owner_);
      if (left_ >= 0) h.expires_in = std::chrono::milliseconds{left_};
      result.push_back(std::move(h));
    }
  }

  holder holder_of(const std::string& key, std::string owner) const {
    holder h;
    h.name = key.substr(key_prefix_.size());
    h.owner = std::move(owner);
    h.waiting = waiting_;
    return h;
  }

  void take_members(const value& v) {
    members_.clear();
    for (std::size_t i = 0; i + 1 < v.size(); i += 2)
      members_.emplace_back(v[i].text(),
                            server_time_of(leading_number<std::int64_t>(v[i + 1].text())));
  }

  void add_members(const std::string& key, std::optional<std::uint32_t> total) {
    for (const auto& [id, ends] : members_) {
      if (ends <= now_) continue;
      holder h = holder_of(key, id);
      h.mode = total ? lock_mode::permit : lock_mode::shared;
      h.expires_in = std::chrono::floor<std::chrono::milliseconds>(ends - now_);
      h.permits = total ? permits_of(id) : 0;
      h.total_permits = total.value_or(0);
      result.push_back(std::move(h));
    }
  }

  void ask_holders(time_point now, event_queue& events) {
    question_ = question::holders;
    if (result.empty()) return finish(events);
    for (const holder& h : result) {
      const std::string k = key_prefix_ + h.name;
      if (!ask(now, events, "HGET", side_key{tag_of(k), k, 'm'}, h.owner)) return;
    }
  }

  // host|pid|since:number|note. The number is that of the grant.
  void describe(holder& h, std::string_view text) const {
    if (std::count(text.begin(), text.end(), '|') < 3) return;
    const auto bounded = [](std::string_view digits, std::int64_t limit) {
      return std::clamp(leading_number<std::int64_t>(digits), std::int64_t{0}, limit);
    };
    h.host = next_word(text, '|');
    h.pid = leading_number<std::int64_t>(next_word(text, '|'));
    const std::string_view grant = next_word(text, '|');
    const std::chrono::milliseconds since{bounded(grant, number_max)};
    const std::size_t number_at = std::min(grant.find(':'), grant.size() - 1) + 1;
    h.token = bounded(grant.substr(number_at), number_max - 1) * turns;
    h.note = text;
    const auto now = std::chrono::floor<std::chrono::milliseconds>(env().wall());
    h.held_for = std::max(std::chrono::milliseconds{0}, now - since);
  }

  const std::string key_prefix_;  // of every lock
  const std::string prefix_;      // of those that are wanted
  const query_scope extent_;
  question question_ = question::scan;
  std::string cursor_ = "0";
  std::vector<std::string> names_;
  std::string owner_;
  std::int64_t left_ = 0;
  server_time now_{};
  int waiting_ = 0;
  std::vector<std::pair<std::string, server_time>> members_;
  std::size_t asked_ = 0, described_ = 0;
};

}  // namespace

void start_holders_query(const lock_server& at, std::string key_prefix, std::string_view name,
                         query_scope extent, seam::holders_handler& to) {
  (new inspection(at, std::move(key_prefix), name, extent, to))->start();
}

namespace {

// The reply of a script: {1 yes | 0 no | 3 ask again}.
std::optional<bool> read_yes_or_no(const value& v) {
  constexpr std::int64_t yes = 1, again = 3;
  const std::int64_t answer = v[0].integer();
  return answer == again ? std::nullopt : std::optional(answer == yes);
}

}  // namespace

void start_breaking(const lock_server& at, std::string_view lock, std::string_view counter,
                    std::string_view owner, seam::decision_handler& to) {
  const auto write = [l = std::string(lock), n = std::string(counter),
                      o = std::string(owner)](std::string& out, std::string_view stamp) {
    append_break_lock(out, {l, n, o, stamp});
  };
  (new decision_query(at, lock, write, read_yes_or_no, to, own_errors()))->start();
}

// The script answers {the counter, the time}.
void start_raising(const lock_server& at, std::string_view lock, std::string_view counter,
                   std::int64_t floor, seam::decision_handler& to) {
  const auto write = [n = std::string(counter), floor](std::string& out, std::string_view) {
    append_raise_counter(out, n, floor);
  };
  const auto read = [floor](const value& v) { return std::optional(v[0].integer() >= floor); };
  (new decision_query(at, lock, write, read, to, own_errors()))->start();
}

void start_guarded_write(const lock_server& at, const guarded_write& w,
                         seam::decision_handler& to) {
  std::string bytes;
  append_guarded_write(bytes, w);
  const auto write = [bytes](std::string& out, std::string_view) { out = bytes; };
  (new decision_query(at, w.key, write, read_yes_or_no, to, own_errors()))->start();
}

}  // namespace holdfast::redis
