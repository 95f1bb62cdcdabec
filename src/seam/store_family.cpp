#include "seam/store_family.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "seam/result_handler.hpp"

namespace holdfast::seam {

namespace {

void merge(std::vector<holder>& all, std::vector<holder> found) {
  std::ranges::move(found, std::back_inserter(all));
}
// The store that has the holder decides.
void merge(bool& is_broken, bool yes) { is_broken = is_broken || yes; }

constexpr bool is_final(const std::vector<holder>&) noexcept { return false; }
constexpr bool is_final(bool is_broken) noexcept { return is_broken; }

// A store that finds another kind of lock under a name has no holder there: that is a failure only
// where each store reports it.
template <class T>
class collected final : public result_handler<T>, private awaited_answers {
 public:
  collected(std::size_t stores, result_handler<T>& to) noexcept
      : awaited_answers(stores), to_(to) {}

  void on_result(T part) override {
    note([&] {
      is_answered_ = true;
      merge(all_, std::move(part));
    });
  }
  void on_failed(failure why) override {
    note([&] {
      failure& kept = why.code == errc::mismatch ? mismatch_ : why_;
      if (!kept.code) kept = std::move(why);
    });
  }

 private:
  void conclude() override {
    failure& why = why_.code || is_answered_ ? why_ : mismatch_;
    why.code && !is_final(all_) ? to_.on_failed(std::move(why)) : to_.on_result(std::move(all_));
  }

  result_handler<T>& to_;
  bool is_answered_ = false;
  T all_{};
  failure why_, mismatch_;  // the first of each
};

}  // namespace

void store_family::add(lock_store& s) {
  all_.push_back(&s);
  for (const lock_kind k : {lock_kind::mutex, lock_kind::shared_mutex, lock_kind::semaphore})
    if (lock_store*& kept = by_kind_[static_cast<std::size_t>(k)];
        !kept && has_modes_of(k, s.can()))
      kept = &s;
}

void store_family::inspect(std::string_view prefix, holders_handler& to) const {
  ask(to, [&](lock_store& s, holders_handler& h) { s.inspect(prefix, h); });
}

void store_family::holders(std::string_view name, holders_handler& to) const {
  ask(to, [&](lock_store& s, holders_handler& h) { s.holders(name, h); });
}

void store_family::break_lock(std::string_view name, std::string_view seen,
                              decision_handler& to) const {
  ask(to, [&](lock_store& s, decision_handler& h) { s.break_lock(name, seen, h); });
}

template <class T, class Ask>
void store_family::ask(result_handler<T>& to, Ask ask_one) const {
  if (all_.size() == 1) return ask_one(first(), to);
  auto* const answers = new collected<T>(all_.size(), to);
  for (lock_store* const s : all_) ask_one(*s, *answers);
}

}  // namespace holdfast::seam
