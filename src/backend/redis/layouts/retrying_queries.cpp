#include "backend/redis/layouts/retrying_queries.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

namespace {

// As MATCH of SCAN reads it: every key that begins so.
std::string pattern_of(std::string_view prefix) {
  std::string out;
  for (const char c : prefix) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out += '*';
}

std::string key_of(const retrying_codec& c, std::string_view key_prefix, std::string_view name) {
  return (std::string(key_prefix) + std::string(name)).append(c.facts().key_suffix);
}

// SCAN for the keys, where it is not about one lock; then a look at each.
class holders_query final : public admin_query<std::vector<holder>> {
 public:
  holders_query(const lock_server& s, const retrying_codec& c, std::string_view key_prefix,
                std::string_view name, query_scope extent, seam::holders_handler& to)
      : admin_query({s.over, extent == query_scope::one_lock ? s.of_others : nullptr},
                    key_of(c, key_prefix, name), to, c.facts().own_errors),
        codec_(c),
        key_prefix_(key_prefix),
        extent_(extent) {
    if (is_of_one()) {
      keys_.push_back(key_of(c, key_prefix, name));
      return;
    }
    scans_ = true;
    pattern_ = pattern_of(key_prefix_ + std::string(name)).append(c.facts().key_suffix);
    if (s.of_others) ask_for_keys();
  }

 private:
  bool is_of_one() const noexcept { return extent_ == query_scope::one_lock; }
  // Among many keys, those are left out that this user may not read, and those that are no lock of
  // this layout. Of one name the latter is an error, as it is to an acquire.
  bool is_failure(const value& v) const override {
    if (!v.is(value::kind::error)) return false;
    if (is_redirection(v)) return is_of_one();
    const error_meaning* const m = meaning_of(v.text(), codec_.facts().own_errors);
    const bool is_other = m && m->why == errc::mismatch;
    return is_of_one() || !(is_other || is_key_denied(v));
  }
  void send_next(time_point now, base::event_queue& events) override {
    if (!scans_) return look(now, events);
    ask(now, events, "SCAN", cursor_, "MATCH", pattern_, "COUNT", "1000");
  }
  void read(const value& v) override {
    if (!scans_) return read_holder(v);
    cursor_ = v[0].text();
    for (std::size_t i = 0; i < v[1].size(); ++i) keys_.emplace_back(v[1][i].text());
  }
  void on_all_read(time_point now, base::event_queue& events) override {
    if (!scans_) return finish(events);
    scans_ = cursor_ != "0";
    send_next(now, events);
  }
  void look(time_point now, base::event_queue& events) {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    if (keys_.empty()) return finish(events);
    for (const std::string& key : keys_) {
      std::string bytes;
      codec_.append_holders_query(bytes, key);
      if (!send(std::move(bytes), now, events)) return;
    }
  }
  // A key that begins so may be anybody's: only the owners of this layout are shown.
  void read_holder(const value& v) {
    const std::string& key = keys_[read_++];
    if (v.is(value::kind::error)) return;
    for (holder& h : codec_.read_holders_reply(v)) {
      if (!is_of_one() && !codec_.is_owner(h.owner)) continue;
      h.name = key.substr(key_prefix_.size(),
                          key.size() - key_prefix_.size() - codec_.facts().key_suffix.size());
      result.push_back(std::move(h));
    }
  }

  const retrying_codec& codec_;
  const std::string key_prefix_;
  const query_scope extent_;
  std::string pattern_, cursor_ = "0";
  bool scans_ = false;
  std::vector<std::string> keys_;
  std::size_t read_ = 0;  // of them
};

}  // namespace

void start_holders_query(const lock_server& at, const retrying_codec& c,
                         std::string_view key_prefix, std::string_view name, query_scope extent,
                         seam::holders_handler& to) {
  (new holders_query(at, c, key_prefix, name, extent, to))->start();
}

void start_breaking(const lock_server& at, const retrying_codec& c, std::string_view key,
                    std::string_view seen, seam::decision_handler& to) {
  const auto write = [&c, k = std::string(key), s = std::string(seen)](std::string& out,
                                                                       std::string_view) {
    c.append_break(out, k, s);
  };
  const auto read = [&c](const value& v) { return std::optional(c.read_break(v)); };
  (new decision_query(at, key, write, read, to, c.facts().own_errors))->start();
}

}  // namespace holdfast::redis
