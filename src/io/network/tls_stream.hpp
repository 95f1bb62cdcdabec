// A stream over TLS.
#pragma once
#include <memory>

#include "base/network.hpp"
#include "io/network/network.hpp"

namespace holdfast::io {

// on_open is called when the handshake is done and the server is verified.
std::unique_ptr<base::stream> make_tls_stream(network&, const base::address&,
                                              const base::tls_terms&, base::stream_events&);

}  // namespace holdfast::io
