// A name is data: whatever it is, it is refused or becomes the name of one file in the folder, and
// the file's name tells it again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backend/file/naming.hpp"
#include "base/percent.hpp"
#include "seam/name.hpp"

namespace {

void require(bool fact) {
  if (!fact) std::abort();
}

void check_file_of(std::string_view name) {
  namespace file = holdfast::file;
  const std::string stem = file::file_stem(name);
  const std::string path = stem + std::string(file::lock_suffix);
  require(!stem.empty() && stem.find('/') == stem.npos && stem.find('\0') == stem.npos);
  require(path != "." && path != ".." && path != file::probe_file);
  require(stem.size() + file::waiters_suffix.size() <= file::file_name_bytes_max);
  const auto told = file::lock_name_of(path);
  require(file::is_hashed(path) ? !told : told == name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require(holdfast::base::percent_decode(holdfast::base::percent_encode(text)) == text);
  (void)holdfast::base::percent_decode(text);
  (void)holdfast::file::lock_name_of(text);
  if (!holdfast::seam::name_fault(text).empty()) return 0;
  require(!text.empty() && text.size() <= holdfast::seam::name_bytes_max);
  check_file_of(text);
  return 0;
}
