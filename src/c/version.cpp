// The version of the commit that the library was built from. The flavours for tests have the
// version of the headers.
#include <holdfast/holdfast.h>
#include <holdfast/version.hpp>

#ifdef HOLDFAST_VERSION_OF_HEADERS
#define HOLDFAST_VERSION_OF_BUILD HOLDFAST_VERSION
#else
#include "c/version_of_build.hpp"
#endif

const char* holdfast_version() { return HOLDFAST_VERSION_OF_BUILD; }
