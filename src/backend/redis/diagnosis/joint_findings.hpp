// The findings of several servers, or of several deployments, told together.
#pragma once
#include <string>
#include <vector>

#include "seam/awaited_answers.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

// A finding that all have in common is reported once; every other finding names whose it is. What
// cannot be examined is a bad finding of its own. Made with new; deletes itself once it has told.
class joint_findings : private seam::awaited_answers {
 public:
  joint_findings(std::vector<std::string> names, seam::findings_handler& to);
  seam::findings_handler& part(std::size_t i) noexcept { return parts_[i]; }

 protected:
  ~joint_findings() override = default;

 private:
  struct one final : seam::findings_handler {
    void on_result(std::vector<finding> all) override;
    void on_failed(base::failure why) override;

    joint_findings* home = nullptr;
    std::string name;
    std::vector<finding> found;
  };

  // Findings about one of them, which are reported before its own.
  virtual std::vector<finding> findings_about(std::size_t) const { return {}; }
  void conclude() override;
  bool is_shared(const finding&) const;

  std::vector<one> parts_;
  seam::findings_handler& to_;
};

}  // namespace holdfast::redis
