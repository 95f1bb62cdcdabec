#include "io/network/error_text.hpp"

#include <cerrno>
#include <system_error>

namespace holdfast::io {
namespace {

std::string system_text(int error) { return std::generic_category().message(error); }

base::failure unreachable(const std::string& where, const std::string& reason) {
  return {errc::unavailable, where + ": " + reason};
}

}  // namespace

base::failure lookup_error(const std::string& where, const std::string& trouble) {
  return unreachable(where, "the name is not found (" + trouble + "); check its spelling and DNS");
}

base::failure connect_error(const std::string& where, int error) {
  switch (error) {
    case ECONNREFUSED:
      return unreachable(where, "nothing listens there; start the server or correct the address");
    case ENOENT:
      return unreachable(where, "there is no such socket; start the server or correct the path");
    case EACCES:
    case EPERM:
      return {errc::refused, where + ": " + system_text(error) +
                                 "; check the rights to the socket, or the firewall"};
    case EMFILE:
    case ENFILE:
      return unreachable(where, "no descriptor is left; raise the limit of files (ulimit -n)");
    case ETIMEDOUT:
      return unreachable(where, "no answer; check the address, the network and the firewall");
    default:
      return unreachable(where, "cannot be reached (" + system_text(error) +
                                    "); check the address and the network");
  }
}

base::failure read_error(const std::string& where, int error) {
  switch (error) {
    case 0: return unreachable(where, "the server has closed the connection");
    case ECONNRESET:
    case EPIPE: return unreachable(where, "the server has reset the connection");
    case ETIMEDOUT:
      return unreachable(where, "the server no longer answers; check it and the network");
    default: return unreachable(where, "the connection broke (" + system_text(error) + ")");
  }
}

}  // namespace holdfast::io
