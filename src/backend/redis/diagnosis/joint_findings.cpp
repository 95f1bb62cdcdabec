#include "backend/redis/diagnosis/joint_findings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::redis {

joint_findings::joint_findings(std::vector<std::string> names, seam::findings_handler& to)
    : awaited_answers(names.size()), parts_(names.size()), to_(to) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    parts_[i].home = this;
    parts_[i].name = std::move(names[i]);
  }
}

void joint_findings::start(std::unique_ptr<joint_findings> made, const diagnosis& diagnose) {
  if (made->parts_.empty())
    return made->to_.on_result(
        {{"server", finding_grade::bad, "no server that stores locks is known", {}}});
  joint_findings& all = *made.release();
  const std::size_t count = all.parts_.size();  // the last one may answer at once
  for (std::size_t i = 0; i < count; ++i) diagnose(i, all.parts_[i]);
}

void joint_findings::one::on_result(std::vector<finding> all) {
  home->note([&] { found = std::move(all); });
}

void joint_findings::one::on_failed(base::failure why) {
  on_result({{"server", finding_grade::bad, "it cannot be examined: " + why.text, {}}});
}

void joint_findings::conclude() {
  std::vector<finding> out;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::ranges::move(findings_about(i), std::back_inserter(out));
    for (const finding& f : parts_[i].found)
      if (!is_shared(f)) {
        out.push_back(f);
        out.back().why = parts_[i].name + ": " + f.why;
      } else if (i == 0) {
        out.push_back(f);
      }
  }
  to_.on_result(std::move(out));
}

bool joint_findings::is_shared(const finding& f) const {
  const auto is_same = [&](const finding& other) {
    return other.what == f.what && other.grade == f.grade && other.why == f.why;
  };
  return std::ranges::all_of(parts_,
                             [&](const one& p) { return std::ranges::any_of(p.found, is_same); });
}

}  // namespace holdfast::redis
