# cmake -DSOURCE=<folder> -DHEADER=<file> -P write_version.cmake: writes the header that has the
# version of the commit, if it is not what the file has.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/version_of_git.cmake)
holdfast_version_of_git(${SOURCE} version date)
set(text "#define HOLDFAST_VERSION_OF_BUILD \"${version}\"\n")
set(written "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} written)
endif()
if(NOT text STREQUAL written)
  file(WRITE ${HEADER} "${text}")
endif()
