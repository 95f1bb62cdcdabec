// The bodies of requests, each as a string of its own.
#pragma once
#include <string>

#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

inline std::string watched_path_body(const std::string& path, bool watches) {
  std::string out;
  append_watched_path(out, path, watches);
  return out;
}

inline std::string path_body(const std::string& path) {
  std::string out;
  append_path(out, path);
  return out;
}

inline std::string delete_body(const std::string& path) {
  std::string out;
  append_delete(out, path, any_version);
  return out;
}

}  // namespace holdfast::zookeeper
