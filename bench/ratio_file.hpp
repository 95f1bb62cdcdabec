// The JSON of one run of the rows. Its members are described in docs/internals/benchmarks.md.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "bars.hpp"
#include "row_result.hpp"
#include "runner.hpp"

namespace bench {

class ratio_file {
 public:
  // Continues the run that the file has if it is unfinished; begins one if there is no file, or if
  // its run is finished. Throws std::runtime_error when the file cannot be read, and when an
  // unfinished run was made on another machine, with other versions or with other options.
  static ratio_file continued(const std::string& path, const settings&);
  // Adds to the run that the file has, even to a finished one.
  static ratio_file opened(const std::string& path, const settings&);

  // Its verdict, reason and figure.
  std::optional<row_result> result_of(const std::string& row) const;
  void add(const bar&, const row_result&);  // in place of an earlier result of the row
  void finish();

 private:
  ratio_file(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  void replace(std::string text);

  std::string path_;
  std::string text_;
};

}  // namespace bench
