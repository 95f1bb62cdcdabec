# The contract suite and the program that it runs as a process of its own, in each flavour.
function(contract_process target testkit)
  file(GLOB sources CONFIGURE_DEPENDS contract/process/*.cpp)
  if(sources)
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE ${testkit} holdfast_inside GTest::gmock)
    holdfast_quick_to_compile(${target} ${testkit})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

contract_process(contract_process testkit)
set(contract_environment HOLDFAST_DOCS=${PROJECT_SOURCE_DIR}/docs
  HOLDFAST_CONTRACT_PROCESS=${CMAKE_CURRENT_BINARY_DIR}/contract_process
  HOLDFAST_RECORDER=/dev/shm/holdfast-tests)

# Layouts of one recipe differ by their codecs, which the unit tests play: other layouts stand for
# these in the sanitizers' builds and in that of Clang. The rounds of Redlock are played by its unit
# tests there.
set(codec_layouts lua setnx getset redisson_spin redisson_fair redlock)
list(JOIN codec_layouts | codec_layout)

holdfast_test_program(contract_tests testkit contract/*.cpp contract/process/any_lock.cpp)
holdfast_add_tests(contract_tests DIR contract WAIT TIMEOUT 300 LONG "b1[45]_"
  ENVIRONMENT ${contract_environment} LABELS mission:G1
  RULES ${backend_rules} ${mission_rules} "_ensemble_zookeeper$=long"
    "_((sentinel|cluster)(_redisson)?|shards)_redis$=long"
    "/(exclusive|shared|writer)[.].*_(records|for_update)_mysql$=long"
    "/exclusive[.].*_(redisson_rw_redis|curator_rw_zookeeper|named_mysql)$=long"
    "_(setnx|getset|redisson_spin)_redis$=long"
    "_(${codec_layout})_redis$=codec" "_(kazoo(_rw)?|node)_zookeeper$=codec"
  TOGETHER "/[a-z]+_(([a-z_]+_)?(redis|zookeeper|mysql)|shared_file)$")

# For sanitizers, which take long: one layout stands for those that differ by their
# codecs, one server for several. The flavour shared_file differs from file by the rights of its
# files alone.
list(TRANSFORM codec_layouts REPLACE ".+" "*_\\0_redis" OUTPUT_VARIABLE of_codecs)
string(JOIN : rarer *shared_file* ${of_codecs} *redisson_permits* *sentinel* *_cluster*
  *_shards_redis *_zookeeper)

if(HOLDFAST_SANITIZED_TESTS)
  foreach(sanitizer IN LISTS holdfast_sanitizers)
    contract_process(contract_process_${sanitizer} testkit_${sanitizer})
    holdfast_only_in_full_suite(contract_process_${sanitizer} ${sanitizer})
  endforeach()
endif()
list(TRANSFORM contract_environment APPEND _@SANITIZER@ REGEX CONTRACT_PROCESS
  OUTPUT_VARIABLE sanitized_environment)
list(APPEND sanitized_environment HOLDFAST_CONTRACT_THREADS_SUFFICE=1)
# They share a server; one mode of each recipe.
string(JOIN : of_zookeeper *exclusive*_curator_zookeeper *shared*_curator_rw_zookeeper
  *permit*_curator_semaphore_zookeeper)
holdfast_add_sanitized_suite(contract_tests DIR contract EXCEPT ${rarer} SHARDS 8
  APART zookeeper ${of_zookeeper}
  ENVIRONMENT ${sanitized_environment})
