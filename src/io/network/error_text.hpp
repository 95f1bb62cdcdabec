// Network errors of the kernel and the resolver, as failures with a remedy.
#pragma once
#include <string>

#include "base/failure.hpp"

namespace holdfast::io {

// `where`: host and port, or the path of a Unix socket.
base::failure lookup_error(const std::string& where, const std::string& trouble);
base::failure connect_error(const std::string& where, int error);
base::failure read_error(const std::string& where, int error);  // 0: the peer has closed

}  // namespace holdfast::io
