// TCP ports of 127.0.0.1.
#pragma once

namespace holdfast::testkit {

// Nobody listened on it a moment ago, and until this process ends no other one is given it here. It
// is none that the kernel gives to those who ask for any port or connect, so that it stays free
// until the server starts, and while it is away; and each time another one. Throws
// std::system_error.
int free_port();

// A listening socket of 127.0.0.1; 0: on any free port. Throws std::system_error.
int listen_on(int port);
int port_of(int socket);
int connect_to(int port);  // a connected socket; -1: nobody listens

}  // namespace holdfast::testkit
