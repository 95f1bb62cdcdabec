// The holders that several servers report, as one answer to an operator.
#pragma once
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "seam/awaited_answers.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

// Made with new; deletes itself once it has told. It fails where one of them does: in a list with
// holes, locks that are held would seem free.
class joint_holders final : public seam::holders_handler, private seam::awaited_answers {
 public:
  joint_holders(std::size_t servers, seam::holders_handler& to) noexcept
      : awaited_answers(servers), to_(to) {}

  void on_result(std::vector<holder> part) override {
    note([&] { std::ranges::move(part, std::back_inserter(all_)); });
  }
  void on_failed(base::failure why) override {
    note([&] {
      if (!why_.code) why_ = std::move(why);
    });
  }

 private:
  void conclude() override {
    if (why_.code) return to_.on_failed(std::move(why_));
    // A lock that is moved meanwhile may be seen at both servers.
    std::ranges::sort(all_, [](const holder& a, const holder& b) {
      return a.name != b.name ? a.name < b.name : a.owner < b.owner;
    });
    const auto is_same = [](const holder& a, const holder& b) {
      return a.name == b.name && a.owner == b.owner;
    };
    all_.erase(std::unique(all_.begin(), all_.end(), is_same), all_.end());
    to_.on_result(std::move(all_));
  }

  seam::holders_handler& to_;
  std::vector<holder> all_;
  base::failure why_;
};

}  // namespace holdfast::redis
