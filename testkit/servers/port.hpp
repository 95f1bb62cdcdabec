// A TCP port of 127.0.0.1 that nobody listens on.
#pragma once

namespace holdfast::testkit {

// Free a moment ago: a server that listens on it must be ready to find it in use. Throws
// std::system_error.
int free_port();

// A listening socket of 127.0.0.1; 0: on any free port. Throws std::system_error.
int listen_on(int port);
int port_of(int socket);

}  // namespace holdfast::testkit
