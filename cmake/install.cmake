# cmake --install: the library, its headers, the command, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

install(TARGETS holdfast EXPORT holdfast_targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
install(EXPORT holdfast_targets NAMESPACE holdfast:: DESTINATION ${package_folder}
  COMPONENT development)
set(left_out REGEX "/asio[^/]*$" EXCLUDE)
if(HOLDFAST_WITH_ASIO)
  install(TARGETS holdfast_asio EXPORT holdfast_asio_targets)
  install(EXPORT holdfast_asio_targets NAMESPACE holdfast:: DESTINATION ${package_folder}
    COMPONENT development)
  set(left_out "")
endif()
install(DIRECTORY include/holdfast TYPE INCLUDE COMPONENT headers
  FILES_MATCHING REGEX "[.](h|hpp)$" ${left_out})
if(TARGET holdfast_cli)
  install(TARGETS holdfast_cli COMPONENT command)
  if(HOLDFAST_SCDOC)
    install(FILES ${PROJECT_BINARY_DIR}/cli/holdfast.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      COMPONENT command)
  endif()
  set(completions ${PROJECT_SOURCE_DIR}/cli/completions)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${completions}/holdfast.bash DESTINATION ${share}/bash-completion/completions
    RENAME holdfast COMPONENT command)
  install(FILES ${completions}/_holdfast DESTINATION ${share}/zsh/site-functions
    COMPONENT command)
  install(FILES ${completions}/holdfast.fish DESTINATION ${share}/fish/vendor_completions.d
    COMPONENT command)
endif()
# With the component `bench` alone: `cmake --build build --target holdfast_bench`, then
# `cmake --install build --component bench`.
if(TARGET holdfast_bench)
  set(of_bench DESTINATION ${CMAKE_INSTALL_DATADIR}/holdfast/bench COMPONENT bench EXCLUDE_FROM_ALL)
  install(PROGRAMS $<TARGET_FILE:holdfast_bench> TYPE BIN COMPONENT bench EXCLUDE_FROM_ALL)
  install(FILES bench/bars.toml ${of_bench})
  install(DIRECTORY bench/peers ${of_bench})
  install(FILES bench/survey/page.html
    DESTINATION ${CMAKE_INSTALL_DATADIR}/holdfast/bench/survey COMPONENT bench EXCLUDE_FROM_ALL)
endif()

set(components_here ${holdfast_backends})
if(HOLDFAST_WITH_ASIO)
  list(APPEND components_here asio)
endif()
# Whoever links a static library links what it needs; a shared one brings it along.
set(static_needs_redis OFF)
set(pc_libs "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_libs " -lstdc++ -lm")  # for programs in C
  if(HOLDFAST_WITH_REDIS)
    set(static_needs_redis ON)
    string(PREPEND pc_libs " -lhiredis")
  endif()
endif()
configure_package_config_file(cmake/holdfastConfig.cmake.in holdfastConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
  ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake DESTINATION ${package_folder}
  COMPONENT development)

# The .pc finds its folders from where it lies, so that a staged or moved installation works.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_include)
set(pc_flags "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_flags " -DHOLDFAST_STATIC")
endif()
configure_file(cmake/holdfast.pc.in holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

if(PROJECT_IS_TOP_LEVEL AND BUILD_SHARED_LIBS AND TARGET holdfast_cli)
  include(cmake/package.cmake)
endif()
