// Network errors of the kernel and the resolver, as failures with a remedy.
#pragma once
#include <string>

#include "base/failure.hpp"

namespace holdfast::io {

// `where`: host and port, or the path of a Unix socket.
core::failure lookup_error(const std::string& where, const std::string& trouble);
core::failure connect_error(const std::string& where, int error);
core::failure read_error(const std::string& where, int error);  // 0: the peer has closed

}  // namespace holdfast::io
