// The version of these headers; CMakeLists.txt reads it from here.
#pragma once

#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION "0.1.0"
