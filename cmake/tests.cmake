# Test programs and how their cases come into ctest.
set(holdfast_sanitizers asan tsan)

# What ctest starts first (COST), as it knows no times in a fresh build: what computes, and beside
# it what waits, the longest first. Short tests that compute come last: they fill each processor.
set(holdfast_cost_busy 120)
set(holdfast_cost_long 110)
set(holdfast_cost_sanitized 100)
set(holdfast_cost_waiting 50)
# Of tests that compute all the time one runs on each processor (tests/suite says how many there
# are), beside others that wait.
set(holdfast_busy RESOURCE_GROUPS processors:1)
function(holdfast_busy_tests)
  set_tests_properties(${ARGN} PROPERTIES ${holdfast_busy} COST ${holdfast_cost_busy})
endfunction()

set(holdfast_asan_environment "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
  "UBSAN_OPTIONS=print_stacktrace=1")
set(holdfast_tsan_environment
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0")

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold HOLDFAST_LINKS_WITH_GOLD)

# Without what a debugger needs, which takes a tenth of the time of compiling and most of that of
# linking: the preset debug has it. Reports of sanitizers have lines of the source.
function(holdfast_no_debug_info target flavour)
  if(NOT HOLDFAST_SANITIZE AND NOT flavour MATCHES "_(asan|tsan)$")
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g0>)
  endif()
endfunction()

# Most of the time of compiling a test goes into headers and into optimising what runs once.
function(holdfast_quick_to_compile target testkit)
  target_compile_options(${target} PRIVATE -O0)
  holdfast_no_debug_info(${target} ${testkit})
  if(HOLDFAST_LINKS_WITH_GOLD)  # twice as fast
    target_link_options(${target} PRIVATE -fuse-ld=gold)
  endif()
  if(NOT TARGET ${testkit}_headers)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${testkit}_headers.cpp "")
    add_library(${testkit}_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${testkit}_headers.cpp)
    target_link_libraries(${testkit}_headers PRIVATE ${testkit} holdfast_inside GTest::gmock)
    target_compile_options(${testkit}_headers PRIVATE -O0)
    holdfast_no_debug_info(${testkit}_headers ${testkit})
    target_precompile_headers(${testkit}_headers PRIVATE <gtest/gtest.h>
      ${PROJECT_SOURCE_DIR}/include/holdfast/holdfast.hpp <chrono> <functional> <thread>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${testkit}_headers)
endfunction()

# `ninja` leaves out what is built for the sanitizers, which bounds the time of ./dev test, and
# `ninja asan_programs tsan_programs` builds it for ./dev test --full.
foreach(sanitizer IN LISTS holdfast_sanitizers)
  add_custom_target(${sanitizer}_programs)
endforeach()
function(holdfast_only_in_full_suite target sanitizer)
  foreach(part ${target} testkit_${sanitizer}_headers testkit_${sanitizer} holdfast_${sanitizer})
    if(TARGET ${part})
      set_target_properties(${part} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
  add_dependencies(${sanitizer}_programs ${target})
endfunction()

# holdfast_test_program(<target> <testkit flavour> <glob>...)
# A gtest program out of whatever sources there are; none, no program. Three dozen tests compiled in
# one piece take two fifths of the time of as many pieces. What a test keeps to itself then needs a
# name that no other test of the program has.
function(holdfast_test_program target testkit)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  get_target_property(aliased ${testkit} ALIASED_TARGET)
  if(aliased)
    set(testkit ${aliased})
  endif()
  if(sources)
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE ${testkit} holdfast_inside GTest::gmock
      GTest::gtest_main)
    if(HOLDFAST_WITH_NETWORK)  # they have TLS servers; the library loads OpenSSL by itself
      target_link_libraries(${target} PRIVATE OpenSSL::SSL)
    endif()
    holdfast_quick_to_compile(${target} ${testkit})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 36)
  endif()
endfunction()

# Tests do not write into the recordings of the machine, unless they have a directory of their own.
function(holdfast_turn_recorder_off variables)
  if(NOT "${${variables}}" MATCHES "HOLDFAST_RECORDER=")
    set(${variables} ${${variables}} HOLDFAST_RECORDER=off PARENT_SCOPE)
  endif()
endfunction()

# holdfast_add_tests(<target> DIR <folder> [LABELS <label>...] [RULES "<regex>=<label>"...]
#                    [ENVIRONMENT <name=value>...] [FIXTURE <name>] [TIMEOUT <seconds>]
#                    [BUSY <regex>] [LONG <regex>] [ALONE <regex>] [TOGETHER <regex>] [WAIT])
# Each case of a gtest program is one ctest test, named <folder>.<suite>.<case> and labelled with
# the folder, LABELS, and the label of each rule whose regex matches <suite>.<case>. The program is
# asked for its cases when ctest starts. Most cases wait, and more of them run at a time than there
# are processors; one whose <suite>.<case> matches BUSY computes all the time, see
# holdfast_busy_tests(). Those that match LONG wait for long and start first; with WAIT all others
# wait too, for servers and processes, and start next. Nothing else runs beside one that matches
# ALONE.
# Cases that match TOGETHER share something that is slow to make, a server of theirs: those with the
# same suite and the same first group of the regex are one ctest test and one process.
# (gtest_discover_tests keeps only one label of a list.)
# In a build for another processor there are only those of holdfast_add_emulated_suite().
function(holdfast_add_tests target)
  if(NOT TARGET ${target} OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "WAIT" "DIR;FIXTURE;TIMEOUT;BUSY;LONG;ALONE;TOGETHER"
    "LABELS;RULES;ENVIRONMENT")
  holdfast_turn_recorder_off(arg_ENVIRONMENT)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  set(cost 0)
  if(arg_WAIT)
    set(cost ${holdfast_cost_waiting})
  endif()
  set(labels ${arg_DIR} ${arg_LABELS})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_cases.cmake)
  file(GENERATE OUTPUT ${script} CONTENT "\
set(cmake [==[${CMAKE_COMMAND}]==])
set(program [==[$<TARGET_FILE:${target}>]==])
set(folder [==[${arg_DIR}]==])
set(labels [==[${labels}]==])
set(rules [==[${arg_RULES}]==])
set(environment [==[${arg_ENVIRONMENT}]==])
set(fixture [==[${arg_FIXTURE}]==])
set(timeout ${arg_TIMEOUT})
set(cost ${cost})
set(busy [==[${arg_BUSY}]==])
set(long [==[${arg_LONG}]==])
set(alone [==[${arg_ALONE}]==])
set(of_busy ${holdfast_busy} COST ${holdfast_cost_busy})
set(of_long COST ${holdfast_cost_long})
set(together [==[${arg_TOGETHER}]==])
set(directory [==[${CMAKE_CURRENT_BINARY_DIR}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/discover.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# For the next function: one test of the program of a sanitizer.
macro(holdfast_add_sanitized_test name filter)
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/sanitized
    $<TARGET_FILE:${target}_${sanitizer}> --gtest_brief=1 --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_DIR};${sanitizer}" TIMEOUT 900
    COST ${holdfast_cost_sanitized} ENVIRONMENT "${environment};${ARGN}")
endmacro()

# holdfast_add_sanitized_suite(<target> DIR <folder> [NAME <name>] [EXCEPT <gtest pattern>]
#                              [SHARDS <number>]
#                              [WITHOUT_THREADS <regex>] [APART <name> <gtest pattern>]
#                              [ENVIRONMENT <name=value>...])
# The whole program but EXCEPT is SHARDS tests (default: 1) for each sanitizer, built as
# <target>_asan and <target>_tsan. A program that mostly waits is done sooner in several shards.
# APART, of what EXCEPT leaves out: cases that share what takes long to start are one test.
# ThreadSanitizer's leaves out the sources that match WITHOUT_THREADS: a single thread has no races.
function(holdfast_add_sanitized_suite target)
  if(NOT TARGET ${target} OR NOT HOLDFAST_SANITIZED_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIR;NAME;EXCEPT;SHARDS;WITHOUT_THREADS"
    "ENVIRONMENT;APART")
  get_target_property(sources ${target} SOURCES)
  foreach(sanitizer IN LISTS holdfast_sanitizers)
    if(sanitizer STREQUAL "tsan" AND arg_WITHOUT_THREADS)
      list(FILTER sources EXCLUDE REGEX "${arg_WITHOUT_THREADS}")
    endif()
    holdfast_test_program(${target}_${sanitizer} testkit_${sanitizer} ${sources})
    # Larger pieces take a quarter less; warnings are the matter of the first build.
    set_target_properties(${target}_${sanitizer} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
    target_compile_options(${target}_${sanitizer} PRIVATE -w)
    holdfast_only_in_full_suite(${target}_${sanitizer} ${sanitizer})
    string(REPLACE "@SANITIZER@" ${sanitizer} environment "${arg_ENVIRONMENT}")
    list(APPEND environment ${holdfast_${sanitizer}_environment})
    holdfast_turn_recorder_off(environment)
    if(NOT arg_SHARDS)
      string(JOIN / name ${arg_DIR}.${sanitizer} ${arg_NAME})
      holdfast_add_sanitized_test(${name} "-${arg_EXCEPT}")
      holdfast_busy_tests(${name})
      continue()
    endif()
    if(arg_APART)
      list(GET arg_APART 0 name)
      list(GET arg_APART 1 cases)
      holdfast_add_sanitized_test(${arg_DIR}.${sanitizer}/${name} "${cases}")
    endif()
    list(APPEND environment GTEST_TOTAL_SHARDS=${arg_SHARDS})
    foreach(shard RANGE 1 ${arg_SHARDS})
      math(EXPR index "${shard} - 1")
      holdfast_add_sanitized_test(${arg_DIR}.${sanitizer}/${shard} "-${arg_EXCEPT}"
        GTEST_SHARD_INDEX=${index})
    endforeach()
  endforeach()
endfunction()
