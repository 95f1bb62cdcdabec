// The options of a URL that only its backend knows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/network.hpp"
#include "seam/registry.hpp"

namespace holdfast::seam {
using namespace base;

// The layouts of a backend, for ?layout=.
struct layout_choice {
  bool (*is_layout)(std::string_view) noexcept;
  std::string (*names)();
  // The danger of a demonstration, which ?unsafe=1 accepts; empty for every other layout.
  std::string_view (*danger_of)(std::string_view) noexcept;
};

// Each read names one option; an option that none has named is refused at the end. Throws
// lock_error (bad_option). Returns whether the option was given.
class own_options {
 public:
  explicit own_options(const open_args& o) noexcept : args_(o) {}

  template <class Use>
  bool read(std::string_view name, Use use) {
    known_.push_back(name);
    bool is_given = false;
    for (const url::option& given : args_.own) {
      if (given.first != name) continue;
      use(given.second);
      is_given = true;
    }
    return is_given;
  }
  bool text(std::string_view name, std::string& to);
  bool flag(std::string_view name, bool& to);
  bool time(std::string_view name, duration& to);
  double number(std::string_view name, double otherwise, double lowest, double highest);
  // layout, and unsafe.
  void layout(std::string& to, const layout_choice&);
  // tls-ca, tls-cert, tls-key and tls-host. A missing file is an error of this machine, not of the
  // server: found before anything is sent.
  void tls(tls_terms&);
  void refuse_others() const;

  [[noreturn]] void refuse(std::string why) const;

 private:
  void file(std::string_view name, std::string& to);

  const open_args& args_;
  std::vector<std::string_view> known_;
};

}  // namespace holdfast::seam
