#include "backend/file/holder_scan.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "backend/file/error_text.hpp"
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
      : folder_(f),
        wall_(wall),
        gate_(f.place.untrusted() ? f.place.open_to_look(probe_file) : f.gate.open_for_probing()) {}

  // Appends the holders; `name` is set when the file's name contains it. Returns 0, or the errno of
  // a file that cannot be a lock's.
  int look_at(const std::string& file, const std::optional<std::string>& name,
              std::vector<holder>& to) {
    const descriptor fd = folder_.place.open_to_look(file.c_str());
    if (!fd) return errno;
    struct stat st;
    if (::fstat(fd.get(), &st) != 0) return errno;
    if (!S_ISREG(st.st_mode)) return ENXIO;
    if (is_held(fd.get())) {
      add(read(fd.get(), 0), name, 0, to);
    } else if (!folder_.place.remote()) {
      add_joint_holders(fd.get(), name, to);
    }
    return 0;
  }

 private:
  bool is_held(int fd) noexcept {
    probe_gate::begin_probe(gate_);
    const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (free) ::flock(fd, LOCK_UN);
    probe_gate::end_probe(gate_);
    return !free;
  }

  // Each range of bytes has the record of its holder; a holder may have several ranges.
  void add_joint_holders(int fd, const std::optional<std::string>& name, std::vector<holder>& to) {
    const std::size_t before = to.size();
    const holder_bytes all(fd);
    for (auto taken = all.next_taken(0); taken; taken = all.next_taken(taken.end())) {
      const std::size_t known = to.size();
      add(read(fd, record_of_byte(taken.first)), name, taken.count, to);
      if (to.size() == known) continue;
      const auto same =
          std::find_if(to.begin() + static_cast<std::ptrdiff_t>(before), to.end() - 1,
                       [&](const holder& h) { return h.owner == to.back().owner && h.pid != 0; });
      if (same == to.end() - 1) continue;
      same->permits += to.back().permits;
      to.pop_back();
    }
  }

  void add(std::span<const char> text, const std::optional<std::string>& name,
           std::uint32_t bytes_taken, std::vector<holder>& to) {
    holder found;
    if (const auto r = parse_record(text)) {
      found.name = r->name;
      found.owner = hex(r->client) + '-' + std::to_string(r->number);
      found.note = r->note;
      found.host = r->host;
      found.token = r->number << 10;
      found.pid = r->pid;
      found.held_for = std::max(std::chrono::milliseconds{},
                                std::chrono::floor<std::chrono::milliseconds>(wall_ - r->since));
      if (bytes_taken > 0) found.mode = r->as.mode;
      if (found.mode == lock_mode::permit) {
        found.permits = bytes_taken;
        found.total_permits = r->as.of;
      }
    }
    if (name) found.name = *name;
    found.waiting = -1;
    if (!found.name.empty()) to.push_back(std::move(found));
  }

  std::span<const char> read(int fd, off_t where) noexcept {
    for (int i = 0; i < readings_max; ++i) {
      const ssize_t n = ::pread(fd, text_.data(), text_.size(), where);
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

std::vector<holder> scan_holders(folder& f, std::string_view prefix, std::chrono::microseconds wall,
                                 base::failure& why) {
  const descriptor of_folder = f.files.open(
      [&f] { return ::openat(f.place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  const int copy = of_folder ? ::fcntl(of_folder.get(), F_DUPFD_CLOEXEC, 0) : -1;
  const listing entries(copy >= 0 ? ::fdopendir(copy) : nullptr);
  if (!entries) {
    why = error_text("list the lock directory", f.place.path(), errno);
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
    probe.look_at(file, name, all);
  }
  std::erase_if(all, [&](const holder& h) { return !h.name.starts_with(prefix); });
  std::ranges::stable_sort(all, {}, &holder::name);
  return all;
}

std::vector<holder> find_holders(folder& f, std::string_view lock_name,
                                 std::chrono::microseconds wall, base::failure& why) {
  const std::string file = file_stem(lock_name, f.place.name_max()) + std::string(lock_suffix);
  std::vector<holder> all;
  const int fault = prober(f, wall).look_at(file, std::string(lock_name), all);
  if (fault != 0 && fault != ENOENT) why = error_text("open", f.place.path_of(file), fault);
  return all;
}

}  // namespace holdfast::file
