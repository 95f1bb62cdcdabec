// The options of URLs whose servers speak TLS: tls-ca, tls-cert, tls-key, tls-host.
#pragma once
#include "base/network.hpp"
#include "seam/registry.hpp"

namespace holdfast::core {

// False: it is none of these.
bool read_tls_option(tls_terms&, const url::option&);

// A missing file is an error of this machine, not of the server: found before anything is sent.
// Throws lock_error (bad_option).
void check_tls_files(const opening&, const tls_terms&);

}  // namespace holdfast::core
