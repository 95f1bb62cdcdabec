# cmake -DPORT=<folder> -DSCRATCH=<folder> -P vcpkg.cmake: runs a portfile with functions in the
# place of vcpkg's. Configures what the port would build, with every feature, and builds nothing.
set(CURRENT_PACKAGES_DIR ${SCRATCH}/packages)
set(PORT_FOLDER ${PORT})
set(PORT holdfast)
file(READ ${PORT_FOLDER}/vcpkg.json manifest)

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(options "")
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    string(JSON description GET "${manifest}" features ${feature} description)
    list(APPEND options -D${option}=ON)
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_find_acquire_program name)
  find_program(${name} pkg-config REQUIRED)
  set(${name} ${${name}} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${SCRATCH}/build
    ${arg_OPTIONS} OUTPUT_QUIET ERROR_VARIABLE complaint COMMAND_ERROR_IS_FATAL ANY)
  if(complaint MATCHES "not used by the project")
    message(FATAL_ERROR "The port sets options that do not exist: ${complaint}")
  endif()
endfunction()

foreach(name vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig
    vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\nendfunction()")
endforeach()
include(${PORT_FOLDER}/portfile.cmake)
