#include "backend/file/census.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "backend/file/complaint.hpp"
#include "backend/file/naming.hpp"

namespace holdfast::file {
namespace {

constexpr int readings_max = 100;  // a record is read while its holder may be writing it

struct closing {
  void operator()(DIR* d) const noexcept { ::closedir(d); }
};
using listing = std::unique_ptr<DIR, closing>;

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

class prober {
 public:
  prober(folder& f, std::chrono::microseconds wall)
      : folder_(f), wall_(wall), gate_(f.gate.open_for_probing()) {}

  // `name` as the file's name tells it, if it does.
  std::optional<holder> look_at(const std::string& file, const std::optional<std::string>& name) {
    const descriptor fd = folder_.files.open([&] {
      return ::openat(folder_.place.get(), file.c_str(),
                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    });
    struct stat st;
    if (!fd || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode) || !is_held(fd.get())) return {};
    holder found;
    const auto text = read(fd.get());
    if (const auto r = parse_record(text)) {
      found.name = r->name;
      found.owner = hex(r->client) + '-' + std::to_string(r->number);
      found.note = r->note;
      found.host = r->host;
      found.token = r->number << 10;
      found.pid = r->pid;
      found.held = std::max(std::chrono::milliseconds{},
                            std::chrono::floor<std::chrono::milliseconds>(wall_ - r->since));
    }
    if (name) found.name = *name;
    found.waiting = -1;
    if (found.name.empty()) return {};
    return found;
  }

 private:
  bool is_held(int fd) noexcept {
    probe_gate::begin_probe(gate_);
    const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (free) ::flock(fd, LOCK_UN);
    probe_gate::end_probe(gate_);
    return !free;
  }

  std::span<const char> read(int fd) noexcept {
    for (int i = 0; i < readings_max; ++i) {
      const ssize_t n = ::pread(fd, text_.data(), text_.size(), 0);
      const std::span<const char> got(text_.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
      if (parse_record(got)) return got;
    }
    return {};
  }

  folder& folder_;
  std::chrono::microseconds wall_;
  descriptor gate_;
  std::array<char, record_bytes> text_{};
};

}  // namespace

std::vector<holder> take_census(folder& f, std::string_view prefix, std::chrono::microseconds wall,
                                core::failure& why) {
  const descriptor of_folder = f.files.open(
      [&f] { return ::openat(f.place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  const int copy = of_folder ? ::fcntl(of_folder.get(), F_DUPFD_CLOEXEC, 0) : -1;
  const listing entries(copy >= 0 ? ::fdopendir(copy) : nullptr);
  if (!entries) {
    why = complaint("list the lock directory", f.place.path(), errno);
    return {};
  }
  std::vector<holder> all;
  prober probe(f, wall);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a listing of our own
  while (const dirent* e = ::readdir(entries.get())) {
    const std::string file = e->d_name;
    const auto name = lock_name_of(file);
    if (!name && !is_hashed(file)) continue;
    if (name && !name->starts_with(prefix)) continue;
    auto found = probe.look_at(file, name);
    if (found && found->name.starts_with(prefix)) all.push_back(std::move(*found));
  }
  std::sort(all.begin(), all.end(),
            [](const holder& a, const holder& b) { return a.name < b.name; });
  return all;
}

std::optional<holder> find_holder(folder& f, std::string_view lock_name,
                                  std::chrono::microseconds wall) {
  const std::string file = file_stem(lock_name, f.place.name_max()) + std::string(lock_suffix);
  return prober(f, wall).look_at(file, std::string(lock_name));
}

}  // namespace holdfast::file
