// A Java library and its driver, in a JVM of its own.
#pragma once
#include <string>

#include "testkit/peers/line_peer.hpp"

namespace holdfast::testkit {

// A test wants a JVM that starts fast, a benchmark one that compiles for speed.
enum class jvm_tuning : unsigned char { quick_start, full_speed };

// Where the library of testkit/peers/NAME and its driver are, once they were fetched.
std::string class_path_of(const std::string& name);

// Fetches them into the build folder, from Maven Central. Empty when they are there, else
// "skipped: ..." and the reason.
std::string fetched_from_central(const std::string& name);

class java_peer : public line_peer {
 public:
  java_peer(const std::string& name, const std::string& main_class, jvm_tuning);
};

}  // namespace holdfast::testkit
