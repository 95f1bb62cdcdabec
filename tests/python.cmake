# The Python package, over a shared library with the C API. A static build has none, so it is made
# of the sources of the C API and the static library.
if(BUILD_SHARED_LIBS)
  set(library_for_python holdfast)
else()
  add_library(holdfast_for_python SHARED ${holdfast_c_sources})
  holdfast_shared_interface(holdfast_for_python)
  target_compile_options(holdfast_for_python PRIVATE -UHOLDFAST_STATIC)
  target_compile_definitions(holdfast_for_python PRIVATE HOLDFAST_VERSION_OF_HEADERS)
  target_link_libraries(holdfast_for_python PRIVATE holdfast_inside ${holdfast_static})
  set(library_for_python holdfast_for_python)
endif()

# holdfast_python_test(<file> <backend> <label>...)
function(holdfast_python_test file backend)
  set(test python.${file}/${backend})
  add_test(NAME ${test}
    COMMAND example_runner ${backend} ${CMAKE_CURRENT_SOURCE_DIR}/python/${file}.py)
  set_tests_properties(${test} PROPERTIES LABELS "python;${backend};${ARGN}" TIMEOUT 120
    SKIP_RETURN_CODE 77
    ENVIRONMENT "HOLDFAST_LIBRARY=$<TARGET_FILE:${library_for_python}>")
endfunction()

foreach(backend IN LISTS holdfast_backends)
  holdfast_python_test(locks_test ${backend} mission:G1)
  set(long)
  if(NOT backend MATCHES "^(file|redis)$")
    set(long long)
  endif()
  holdfast_python_test(asyncio_test ${backend} mission:G1 ${long})
endforeach()
holdfast_python_test(package_test file mission:G1)
holdfast_python_test(wheel_test file long)
if(HOLDFAST_WITH_REDIS)
  holdfast_python_test(redis_py_test redis mission:R3)
  holdfast_python_test(guide_test redis mission:G1)
endif()
