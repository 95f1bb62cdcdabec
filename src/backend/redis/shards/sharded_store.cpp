#include "backend/redis/shards/sharded_store.hpp"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include "backend/redis/extensions.hpp"
#include "seam/result_handler.hpp"
#include "seam/store_family.hpp"

namespace holdfast::redis {

namespace {

// The decisions of the two shards of one lock: yes where one of them says so. Made with new;
// deletes itself once it has answered.
class either_decision final : public seam::decision_handler, private seam::awaited_answers {
 public:
  explicit either_decision(seam::decision_handler& to) noexcept : awaited_answers(2), to_(to) {}

  void on_result(bool yes) override {
    note([&] { is_yes_ = is_yes_ || yes; });
  }
  void on_failed(base::failure why) override {
    note([&] { why_ = std::move(why); });
  }

 private:
  void conclude() override {
    if (why_.code && !is_yes_) return to_.on_failed(std::move(why_));
    to_.on_result(is_yes_);
  }

  seam::decision_handler& to_;
  bool is_yes_ = false;
  base::failure why_;
};

// The holders that the shards report, while the list of shards changes. A client with both lists
// holds a lock that moves at its two shards, under an owner id of each: it is shown as at the
// present shard, with the waiters of both. Made with new; deletes itself once it has answered.
class holders_of_shards final : private seam::awaited_answers {
 public:
  // A part is taken for each of the shards, before any of them answers.
  holders_of_shards(const shard_lists& lists, std::size_t shards, seam::holders_handler& to)
      : awaited_answers(shards), lists_(lists), to_(to) {}

  seam::holders_handler& part(std::size_t shard) { return parts_.emplace_back(*this, shard); }

 private:
  struct part_of_shard final : seam::holders_handler {
    part_of_shard(holders_of_shards& a, std::size_t s) noexcept : all(a), shard(s) {}
    void on_result(std::vector<holder> found) override {
      all.note([&] {
        for (holder& h : found) all.add(shard, std::move(h));
      });
    }
    void on_failed(base::failure why) override {
      all.note([&] { all.why_ = std::move(why); });
    }
    holders_of_shards& all;
    const std::size_t shard;
  };

  void add(std::size_t shard, holder h) {
    const bool moves = lists_.is_moving(h.name);
    const bool is_former = moves && lists_.shard(h.name) != shard;
    if (moves) h.token = 0;  // the number at one shard may be the smaller one of the two
    (is_former ? former_ : present_).push_back(std::move(h));
  }
  void conclude() override {
    if (why_.code) return to_.on_failed(std::move(why_));
    std::vector<holder> all = std::move(present_);
    const std::size_t of_present = all.size();
    for (holder& h : former_) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(of_present);
      const auto same =
          std::find_if(all.begin(), end, [&](const holder& p) { return p.name == h.name; });
      if (same == end) {
        all.push_back(std::move(h));
        continue;
      }
      for (auto p = same; p != end; ++p)
        if (p->name == h.name) p->waiting = std::max(p->waiting, h.waiting);
    }
    std::ranges::sort(all, {}, [](const holder& h) { return std::tie(h.name, h.owner); });
    to_.on_result(std::move(all));
  }

  const shard_lists& lists_;
  seam::holders_handler& to_;
  std::deque<part_of_shard> parts_;
  std::vector<holder> present_, former_;
  base::failure why_;
};

}  // namespace

std::unique_ptr<seam::claim> sharded_store::open(std::string_view name, seam::claim_sink& sink) {
  if (!lists_.is_moving(name)) return of(name).open(name, sink);
  return std::make_unique<moving_claim>(name, places_[lists_.former_shard(name)],
                                        places_[lists_.shard(name)], sink, moving_);
}

bool sharded_store::can_lock_all(std::span<const std::string_view> names) const {
  const lock_store& first = of(names.front());
  const auto is_there = [&](std::string_view name) {
    return &of(name) == &first && !lists_.is_moving(name);
  };
  return std::ranges::all_of(names, is_there) && first.can_lock_all(names);
}

bool sharded_store::can_move_locks() const noexcept {
  return !can().tokens || places_.front().locks->find<grant_counters>();
}

void sharded_store::inspect(std::string_view prefix, seam::holders_handler& to) {
  if (lists_.is_changing) {
    auto& joint = *new holders_of_shards(lists_, places_.size(), to);
    std::vector<seam::holders_handler*> parts;
    for (std::size_t i = 0; i < places_.size(); ++i) parts.push_back(&joint.part(i));
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].locks->inspect(prefix, *parts[i]);
    return;
  }
  seam::store_family all;
  for (const moving_claim::place& p : places_) all.add(*p.locks);
  all.inspect(prefix, to);
}

void sharded_store::holders(std::string_view name, seam::holders_handler& to) {
  if (!lists_.is_moving(name)) return of(name).holders(name, to);
  auto& joint = *new holders_of_shards(lists_, 2, to);
  seam::holders_handler& present = joint.part(lists_.shard(name));
  seam::holders_handler& former = joint.part(lists_.former_shard(name));
  former_of(name).holders(name, former);
  of(name).holders(name, present);
}

void sharded_store::break_lock(std::string_view name, std::string_view seen,
                               seam::decision_handler& to) {
  if (!lists_.is_moving(name)) return of(name).break_lock(name, seen, to);
  auto& both = *new either_decision(to);
  former_of(name).break_lock(name, seen, both);
  of(name).break_lock(name, seen, both);
}

void* sharded_store::find_extension(const std::type_info& wanted) noexcept {
  if (!places_.front().locks->find<guarded_values>()) return nullptr;
  return offer<guarded_values>(*this, wanted);
}

void sharded_store::write(const guarded_write& w, seam::decision_handler& to) {
  lock_store& at = lists_.is_moving(w.key) ? former_of(w.key) : of(w.key);
  at.find<guarded_values>()->write(w, to);
}

}  // namespace holdfast::redis
