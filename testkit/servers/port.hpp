// TCP ports of 127.0.0.1.
#pragma once

namespace holdfast::testkit {

// Returns a port on which no program listens, and which no other process gets from this function
// until this one ends. It is outside the range from which the kernel assigns ports, so it stays
// free until the server starts, and while the server is down. Each call returns another port.
// Throws std::system_error.
int free_port();

// A listening socket of 127.0.0.1; 0: on any free port. Throws std::system_error.
int listen_on(int port);
int port_of(int socket);
int connect_to(int port);  // a connected socket; -1: nobody listens

}  // namespace holdfast::testkit
