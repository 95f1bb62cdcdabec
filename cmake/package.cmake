# cpack: the Debian packages. ./dev package runs it in the preset "package".
include(cmake/version_of_git.cmake)
holdfast_check_tag(${PROJECT_SOURCE_DIR} ${PROJECT_VERSION})
holdfast_version_of_git(${PROJECT_SOURCE_DIR} package_version package_date)
message(STATUS "holdfast: the packages have the version ${package_version}")

set(CPACK_PACKAGE_CONTACT "The holdfast developers <holdfast@packages.example.org>")
set(library_package libholdfast${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(package_of_library ${library_package})
set(package_of_development libholdfast-dev)
set(package_of_command holdfast)
set(package_of_python python3-holdfast)
set(package_of_documentation holdfast-doc)
set(package_groups library development command python documentation)

# Debian's policy asks each package for a copyright file and a compressed changelog. They are parts
# of packages alone: cmake --install leaves out what belongs to no default component.
set(debian_files ${PROJECT_BINARY_DIR}/debian)
configure_file(packaging/debian/changelog.in ${debian_files}/changelog @ONLY)
execute_process(COMMAND gzip -9nc ${debian_files}/changelog
  OUTPUT_FILE ${debian_files}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
foreach(group IN LISTS package_groups)
  install(FILES packaging/debian/copyright ${debian_files}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${group}}
    COMPONENT ${group} EXCLUDE_FROM_ALL)
endforeach()
install(DIRECTORY python/holdfast DESTINATION lib/python3/dist-packages
  COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING REGEX "/(py.typed|[^/]*[.]py)$")
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/holdfast-doc
  COMPONENT documentation EXCLUDE_FROM_ALL PATTERN internals EXCLUDE)
install(FILES README.md README.zh-CN.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
  COMPONENT documentation EXCLUDE_FROM_ALL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/holdfast-doc)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VERSION ${package_version})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has a summary of its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL headers ${package_groups})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/compress_manual.cmake)

# holdfast_package(<group> <section> <architecture> DEPENDS <list> RECOMMENDS <list> TEXT <text>)
function(holdfast_package group section architecture)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "DEPENDS;RECOMMENDS;TEXT" "")
  string(TOUPPER ${group} GROUP)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_NAME ${package_of_${group}} PARENT_SCOPE)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  if(architecture STREQUAL all)
    set(CPACK_DEBIAN_${GROUP}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
  else()
    set(CPACK_DEBIAN_${GROUP}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  endif()
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_DEPENDS "${arg_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${GROUP}_DESCRIPTION "${arg_TEXT}" PARENT_SCOPE)
endfunction()

set(this_version "(= ${package_version})")
# The library loads them when a connection needs them.
set(loaded_libraries "libssl3, libmariadb3")
holdfast_package(library libs any RECOMMENDS ${loaded_libraries} TEXT
  "distributed locks for C and C++
holdfast acquires locks with fencing tokens in a directory, Redis, ZooKeeper,
MariaDB or MySQL. The URL selects the store.

This package contains the shared library.")
holdfast_package(development libdevel any DEPENDS "${library_package} ${this_version}"
  RECOMMENDS "libboost1.81-dev" TEXT
  "distributed locks for C and C++ (development files)
holdfast acquires locks with fencing tokens in a directory, Redis, ZooKeeper,
MariaDB or MySQL. The URL selects the store.

This package contains the headers for C99 and C++20, and the files that CMake
and pkg-config read. holdfast/asio.hpp needs Boost.")
holdfast_package(command utils any RECOMMENDS ${loaded_libraries} TEXT
  "run a command under a distributed lock
holdfast runs any command under a lock, like flock(1), but on every machine
that shares a Redis, ZooKeeper, MariaDB or MySQL server. It ends the command
before the lock can be granted to another machine.")
holdfast_package(python python all
  DEPENDS "python3 (>= 3.9), ${library_package} (>= ${package_version})" TEXT
  "distributed locks for Python
holdfast acquires locks with fencing tokens in a directory, Redis, ZooKeeper,
MariaDB or MySQL, with \"with\" and \"async with\".")
holdfast_package(documentation doc all TEXT
  "distributed locks for C and C++ (documentation)
holdfast acquires locks with fencing tokens in a directory, Redis, ZooKeeper,
MariaDB or MySQL. This package contains its pages and examples.")
# Both concern the one package that has a shared library.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA  # compiled modules
  ${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm)

include(CPack)
foreach(group IN LISTS package_groups)
  cpack_add_component_group(${group})
  cpack_add_component(${group} GROUP ${group})
endforeach()
cpack_add_component(headers GROUP development)
