// What the kernel says of a connection, as a failure with a remedy.
#pragma once
#include <string>

#include "base/failure.hpp"

namespace holdfast::io {

// `where`: host and port, or the path of a Unix socket.
core::failure complaint_of_name(const std::string& where, const std::string& trouble);
core::failure complaint_of_dialling(const std::string& where, int error);
core::failure complaint_of_reading(const std::string& where, int error);  // 0: the peer has closed

}  // namespace holdfast::io
