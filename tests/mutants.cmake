# The register of planted faults, and the program that plants each and plays the tests that must
# notice it.
file(GLOB mutant_register_sources CONFIGURE_DEPENDS mutants/register/*.cpp)
add_library(mutant_register STATIC ${mutant_register_sources})
target_include_directories(mutant_register PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(mutant_register PRIVATE
  HOLDFAST_LAYOUTS="${PROJECT_SOURCE_DIR}/src/backend/redis/layouts")
target_link_libraries(mutant_register PUBLIC holdfast_mutants holdfast_inside)
set_target_properties(mutant_register PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)

holdfast_test_program(mutant_tests testkit_mutants mutants/*.cpp)
# Scenarios use names of the library that the others have for themselves.
set_target_properties(mutant_tests PROPERTIES UNITY_BUILD_MODE GROUP)
get_target_property(others mutant_tests SOURCES)
set(scenarios ${others})
list(FILTER scenarios INCLUDE REGEX "_scenarios[.]cpp$")
list(FILTER others EXCLUDE REGEX "_scenarios[.]cpp$")
set_source_files_properties(${scenarios} PROPERTIES UNITY_GROUP scenarios)
set_source_files_properties(${others} PROPERTIES UNITY_GROUP others)
target_link_libraries(mutant_tests PRIVATE mutant_register)
if(HOLDFAST_WITH_REDIS)
  target_link_libraries(mutant_register PRIVATE sim_model)
  target_link_libraries(mutant_tests PRIVATE sim_world)
endif()
holdfast_add_tests(mutant_tests DIR mutants LABELS mutant BUSY "/schedules" TIMEOUT 120
  RULES ${backend_rules} ${mission_rules} "/schedules=sim" "/schedules=redis"
    "/schedules_=long")
