#include "backend/redis/shards/list_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "backend/redis/backend.hpp"
#include "backend/redis/layouts/admin_query.hpp"
#include "base/mutant.hpp"
#include "base/parker.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view between_lists = " was ";

// Writes the list if the key still has what was read. KEYS: the list. ARGV: what was read, or
// nothing; the new list.
constexpr std::string_view replace_list = R"(
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1)";

std::string key_of_list(const std::string& prefix) {
  return "holdfast:shards" + (prefix.empty() ? std::string() : ':' + prefix);
}

// GET; then, where the list has to be written, the script, and GET again where another client has
// written meanwhile.
class list_query final : public admin_query<std::string> {
 public:
  list_query(transport& t, std::string key, client_lists mine,
             seam::result_handler<std::string>& to)
      : admin_query(t, to), key_(std::move(key)), mine_(std::move(mine)) {}

 private:
  void send_next(time_point now, base::event_queue& events) override {
    if (writes_) {
      ask(now, events, "EVAL", replace_list, std::int64_t{1}, key_, known_, mine_.text());
    } else {
      ask(now, events, "GET", key_);
    }
  }
  void read(const value& v) override {
    if (writes_) {
      is_written_ = v.integer() == 1;
    } else {
      known_ = v.is(value::kind::nil) ? std::string_view() : v.text();
    }
  }
  void on_all_read(time_point now, base::event_queue& events) override {
    const bool has_tried = std::exchange(writes_, false);
    if (has_tried && is_written_) return finish(events);
    if (has_tried) return send_next(now, events);
    const list_verdict verdict = judge_list(known_, mine_);
    if (verdict == list_verdict::refused) result = known_;
    if (verdict != list_verdict::writes) return finish(events);
    writes_ = true;
    send_next(now, events);
  }

  const std::string key_;
  const client_lists mine_;
  std::string known_;
  bool writes_ = false, is_written_ = false;
};

struct awaited_list final : seam::result_handler<std::string> {
  base::parker parker;
  list_answer found;
  void on_result(std::string other) override {
    found.is_same = other.empty();
    found.other = std::move(other);
    parker.signal();
  }
  void on_failed(base::failure why) override {
    found.why = std::move(why);
    parker.signal();
  }
};

// Without names= the address is the name.
std::string shown(const server_of_shard& s) {
  return s.shard == s.address ? s.address : s.shard + " (" + s.address + ')';
}

bool are_one(const server_of_shard& a, const server_of_shard& b) {
  return !a.run_id.empty() && a.run_id == b.run_id && a.database == b.database;
}

}  // namespace

std::string text_of_list(std::vector<weighted_name> all) {
  std::ranges::sort(all, {}, &weighted_name::name);
  std::string out;
  for (const weighted_name& n : all) {
    if (n.weight == 0) continue;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), n.weight).ptr;
    out += (out.empty() ? "" : ",") + n.name + '=' + std::string(digits.begin(), end);
  }
  return out;
}

list_verdict judge_list(std::string_view known, const client_lists& mine) {
  if (known == mine.text()) return list_verdict::opens;
  const auto at = known.find(between_lists);
  const std::string_view present = known.substr(0, at);
  const std::string_view former =
      at == known.npos ? std::string_view() : known.substr(at + between_lists.size());
  const bool changes = !mine.former.empty();
  const bool begins_change = changes && former.empty() && present == mine.former;
  const bool ends_change = !changes && present == mine.present;
  if (known.empty() || begins_change || ends_change) return list_verdict::writes;
  const bool is_not_yet_changed = !changes && former == mine.present;
  const bool is_late = changes && former.empty() && present == mine.present;
  if (is_not_yet_changed || is_late) return list_verdict::opens;
  return base::planted(base::mutant::other_shard_list_accepted) ? list_verdict::opens
                                                                : list_verdict::refused;
}

list_answer ask_for_list(backend& shard, const std::string& prefix, const client_lists& mine) {
  awaited_list out;
  (new list_query(shard.first_node(), key_of_list(prefix), mine, out))->start();
  if (!out.parker.signalled()) shard.flush();
  base::caller_driver* const d = shard.driver();
  d ? d->run_until_signalled(out.parker) : out.parker.park();
  return std::move(out.found);
}

std::string text_of_other_list(const std::string& other, const std::string& prefix,
                               const client_lists& mine) {
  return "its clients have another list of shards, " + other + "; this client has " + mine.text() +
         ". Give all clients the same list, and change it with was=. If no client uses the other "
         "list, delete the key " +
         key_of_list(prefix) + " at each shard";
}

std::string text_of_same_server(std::span<const server_of_shard> all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (are_one(all[j], all[i]))
        return "the shards " + shown(all[j]) + " and " + shown(all[i]) +
               " are one server; name each server once";
  return {};
}

}  // namespace holdfast::redis
