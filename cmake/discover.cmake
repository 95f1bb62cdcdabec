# Included when ctest starts: lists the cases of `program` and adds each as a test. The variables
# are set by the file that holdfast_add_tests() writes. What cases.pl does would take seconds in the
# language of CMake, with thousands of cases.
set(settings "")
foreach(name IN ITEMS program folder labels rules environment fixture timeout cost busy long alone
    of_busy of_long together directory)
  string(REPLACE ";" "\\;" value "${${name}}")
  list(APPEND settings "${name}=${value}")
endforeach()

set(listing_failed "")
if(NOT EXISTS ${program})
  set(listing_failed "not built: ${program}")
else()
  execute_process(
    COMMAND ${cmake} -E env --unset=GTEST_FILTER ${environment} ${program} --gtest_list_tests
    COMMAND ${cmake} -E env ${settings} perl ${CMAKE_CURRENT_LIST_DIR}/cases.pl
    OUTPUT_VARIABLE commands ERROR_VARIABLE complaint RESULTS_VARIABLE results)
  if(NOT results STREQUAL "0;0")
    set(listing_failed "${program} --gtest_list_tests failed: ${results} ${complaint}")
  endif()
endif()
if(listing_failed)
  add_test(${folder}.discovery ${cmake} -E false)
  set_tests_properties(${folder}.discovery PROPERTIES LABELS "${folder}")
  message(STATUS "${listing_failed}")
else()
  cmake_language(EVAL CODE "${commands}")
endif()
