// Locks in a directory of this machine, by flock(2); there is no server.
#pragma once
#include "backend/file/directory.hpp"
#include "seam/registry.hpp"

namespace holdfast::file {

// URL: "file:" (the directory of this machine and user) or "file:///directory". Options: network=1
// accepts a directory on a network file system; unlink= and group=: see directory_options. Throws
// lock_error: bad_url, bad_option, refused, unavailable.
seam::backend open(const seam::open_args&);

directory_options read_settings(const seam::open_args&);  // throws lock_error (bad_option)

}  // namespace holdfast::file
