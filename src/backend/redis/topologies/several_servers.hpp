// Shared by topologies of several servers: how many of them decide, and which cannot be used.
#pragma once
#include <cstddef>
#include <string>

namespace holdfast::redis {

// Servers that cannot be used, and why.
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

inline constexpr std::size_t independent_servers_max = 15;

// How many of several independent servers decide for all.
constexpr std::size_t majority_of(std::size_t servers) noexcept { return servers / 2 + 1; }

}  // namespace holdfast::redis
