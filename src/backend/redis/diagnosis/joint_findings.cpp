#include "backend/redis/diagnosis/joint_findings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::redis {

namespace {

class joint_findings final : private seam::awaited_answers {
 public:
  using remarks = std::function<std::vector<finding>(std::size_t)>;
  joint_findings(std::vector<std::string> names, remarks about, seam::findings_handler& to)
      : awaited_answers(names.size()), parts_(names.size()), about_(std::move(about)), to_(to) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      parts_[i].home = this;
      parts_[i].name = std::move(names[i]);
    }
  }
  seam::findings_handler& part(std::size_t i) noexcept { return parts_[i]; }

 private:
  struct one final : seam::findings_handler {
    void on_result(std::vector<finding> all) override {
      home->note([&] { found = std::move(all); });
    }
    void on_failed(base::failure why) override {
      on_result({{"server", finding_grade::bad, "it cannot be examined: " + why.text, {}}});
    }

    joint_findings* home = nullptr;
    std::string name;
    std::vector<finding> found;
  };

  void conclude() override {
    std::vector<finding> out;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (about_) std::ranges::move(about_(i), std::back_inserter(out));
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
  bool is_shared(const finding& f) const {
    const auto is_same = [&](const finding& other) {
      return other.what == f.what && other.grade == f.grade && other.why == f.why;
    };
    return std::ranges::all_of(parts_,
                               [&](const one& p) { return std::ranges::any_of(p.found, is_same); });
  }

  std::vector<one> parts_;
  const remarks about_;
  seam::findings_handler& to_;
};

}  // namespace

void start_joint_diagnosis(
    std::vector<std::string> names,
    const std::function<void(std::size_t, seam::findings_handler&)>& diagnose,
    seam::findings_handler& to, std::function<std::vector<finding>(std::size_t)> about) {
  if (names.empty())
    return to.on_result(
        {{"server", finding_grade::bad, "no server that stores locks is known", {}}});
  const std::size_t count = names.size();  // the last one may answer at once, which deletes `all`
  auto& all = *new joint_findings(std::move(names), std::move(about), to);
  for (std::size_t i = 0; i < count; ++i) diagnose(i, all.part(i));
}

}  // namespace holdfast::redis
