// TCP ports of 127.0.0.1.
#pragma once

namespace holdfast::testkit {

// Returns a port on which no program listens, and which no other process gets from this function
// until this one ends. It is outside the range from which the kernel assigns ports, so it stays
// free until the server starts, and while the server is down. Each call returns another port.
// Throws std::system_error.
int free_port();
// The same for a node of a Redis Cluster: its bus has the port bus_offset above the returned one.
// Versions before 7.0 have no option for another port.
int free_port_with_bus();
inline constexpr int bus_offset = 10'000;

// A listening socket of 127.0.0.1; 0: on any free port. Throws std::system_error.
int listen_on(int port);
int port_of(int socket);
int connect_to(int port);  // a connected socket; -1: nobody listens

}  // namespace holdfast::testkit
