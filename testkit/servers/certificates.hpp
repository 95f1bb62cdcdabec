// Certificates for servers and clients of a test, made by the openssl command.
#pragma once
#include <string>

namespace holdfast::testkit {

class scratch_folder;

// PEM files in the folder: NAME.crt and NAME.key of
//   ca        signs the others
//   server    127.0.0.1 and localhost, 2 days
//   expired   the same names, ended an hour ago
//   stranger  another host's: elsewhere.invalid
//   client    of a client
//   other-ca  has signed none of them
struct certificates {
  explicit certificates(const scratch_folder&);  // about 0.2 s; throws std::runtime_error
  std::string certificate(const std::string& name) const { return folder + '/' + name + ".crt"; }
  std::string key(const std::string& name) const { return folder + '/' + name + ".key"; }

  std::string folder;
};

}  // namespace holdfast::testkit
