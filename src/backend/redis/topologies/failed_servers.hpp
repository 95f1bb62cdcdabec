// Servers that cannot be used, and why.
#pragma once
#include <cstddef>
#include <string>

namespace holdfast::redis {

class failed_servers {
 public:
  void add(const std::string& address, const std::string& why) {
    const bool is_named = why.find(address) != why.npos;
    list_.append(size_++ == 0 ? "" : ", ").append(is_named ? why : address + " (" + why + ")");
  }
  std::size_t size() const noexcept { return size_; }
  const std::string& list() const noexcept { return list_; }  // "a:6379 (it is a replica), ..."

 private:
  std::string list_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::redis
