// Numbers of things, for people to read.
#pragma once
#include <cstddef>
#include <string>

namespace holdfast::cli {

// "1,204"
std::string grouped(std::size_t number);

// counted(2, "lock", "locks") is "2 locks".
std::string counted(std::size_t number, const char* one, const char* several);

}  // namespace holdfast::cli
