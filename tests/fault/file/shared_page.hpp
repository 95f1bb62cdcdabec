// A value that a test shares with the processes it forks.
#pragma once
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <new>

namespace holdfast::file_test {

template <class T>
class shared_page {
 public:
  shared_page() {
    void* const page =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    value_ = new (page) T;
  }
  ~shared_page() { ::munmap(value_, sizeof(T)); }
  shared_page(const shared_page&) = delete;
  shared_page& operator=(const shared_page&) = delete;

  T* operator->() const noexcept { return value_; }

 private:
  T* value_;
};

}  // namespace holdfast::file_test
