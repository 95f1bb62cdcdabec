#include "cli/deadline_page.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace holdfast::cli {
namespace {

void* map(int fd) {
  void* const at =
      ::mmap(nullptr, sizeof(deadline_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

shared_page::shared_page() : fd_(::memfd_create("holdfast", MFD_CLOEXEC)) {
  void* at = nullptr;
  if (fd_ && ::ftruncate(fd_.get(), sizeof(deadline_page)) == 0) at = map(fd_.get());
  const bool is_denied = errno == EPERM || errno == ENOSYS;
  if (!at)
    throw std::system_error(errno, std::generic_category(),
                            is_denied ? "the guardian of the command needs memfd_create; permit "
                                        "this call in the sandbox (seccomp)"
                                      : "memory for the guardian of the command");
  page_ = new (at) deadline_page{};
}

shared_page::shared_page(int fd) noexcept {
  const file_descriptor closed_after(fd);
  page_ = static_cast<deadline_page*>(map(fd));
}

shared_page::~shared_page() {
  if (page_) ::munmap(page_, sizeof(deadline_page));
}

bool signal_group(pid_t group, int signal) noexcept {
  return ::kill(-group, signal) == 0 || errno != ESRCH;
}

}  // namespace holdfast::cli
