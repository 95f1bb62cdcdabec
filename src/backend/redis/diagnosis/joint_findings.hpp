// The findings of several servers, or of several deployments, told together.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "seam/result_handler.hpp"

namespace holdfast::redis {

// A finding that all have in common is reported once; every other finding names whose it is. What
// cannot be examined is a bad finding of its own.
class joint_findings : private seam::awaited_answers {
 public:
  joint_findings(std::vector<std::string> names, seam::findings_handler& to);
  ~joint_findings() override = default;

  using diagnosis = std::function<void(std::size_t, seam::findings_handler&)>;
  // Diagnoses each of them by its number. The last answer deletes the findings. Without any, a bad
  // finding is reported at once.
  static void start(std::unique_ptr<joint_findings>, const diagnosis&);

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
