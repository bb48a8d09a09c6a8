# SPDX-License-Identifier: Apache-2.0
# atelier_add_test(<name>
#   KIND <UNIT|PROCESS|GPU|FAULT|STRESS>
#   SOURCES <file>...
#   [LIBS <target>...]      what is under test; Boost.Test comes by itself
#   [TORCH]                 the sources include LibTorch: 180 s at least
#   [HEAVY]                 the sources themselves compute for long
#   [BOTH]                  what it sees depends on LibTorch being there
#   [LONG]                  computes for minutes with sanitizers
#   [SEQUENTIAL]            starts no thread
#   [LOCKS <name>...]       resources that no other test may use meanwhile
#   [TIMEOUT <seconds>])    instead of the kind's
#
# Make the executable <name> and the ctest test of the same name, labelled with
# the kind in lower case. With LibTorch and without ATELIER_PLAIN_TESTS only those
# that need it, and the LONG ones, are built and run: the sanitizers' presets run
# the others. Without ATELIER_ALL_TESTS these leave out the LONG ones, and
# ThreadSanitizer the SEQUENTIAL ones.
#
# UNIT     pure, or on the deterministic scheduler; no other process      60 s
# PROCESS  starts processes of the project                               180 s
# GPU      needs a device, skips itself with a message without one       300 s
# FAULT    kills, truncates, corrupts on purpose                         300 s
# STRESS   real threads, many repeats; runs alone                        600 s
#
# The sources are Boost.Test suites; `#include <boost/test/unit_test.hpp>` and
# define neither main nor BOOST_TEST_MODULE. A test that checks nothing fails.
# The count of its cases is left in <build>/test-results/<name>.xml.
set(ATELIER_TEST_TIMEOUT_FACTOR 1 CACHE STRING
  "Multiplies the time limit of every test")
set(ATELIER_TEST_LAUNCHER "" CACHE STRING "A command that runs each test")
option(ATELIER_PLAIN_TESTS
  "With LibTorch, build and run the tests that do not need it too" ON)
# Whether the tests that do not need LibTorch are for another preset.
set(ATELIER_ONLY_TORCH_TESTS OFF)
if(ATELIER_WITH_TORCH AND NOT ATELIER_PLAIN_TESTS)
  set(ATELIER_ONLY_TORCH_TESTS ON)
endif()
set(ATELIER_TEST_RESULTS "${PROJECT_BINARY_DIR}/test-results")
option(ATELIER_ALL_TESTS
  "With sanitizers, build and run the LONG and SEQUENTIAL tests too" ON)
file(MAKE_DIRECTORY "${ATELIER_TEST_RESULTS}")

function(atelier_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BOTH;HEAVY;LONG;SEQUENTIAL;TORCH" "KIND;TIMEOUT"
    "SOURCES;LIBS;LOCKS")
  set(limit_UNIT 60)
  set(limit_PROCESS 180)
  set(limit_GPU 300)
  set(limit_FAULT 300)
  set(limit_STRESS 600)
  if(NOT DEFINED limit_${arg_KIND})
    message(FATAL_ERROR "atelier_add_test(${name}): KIND is '${arg_KIND}', "
      "not UNIT, PROCESS, GPU, FAULT or STRESS")
  elseif(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "atelier_add_test(${name}): no SOURCES, or unknown "
      "arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${limit_${arg_KIND}})
    if(arg_TORCH AND arg_TIMEOUT LESS 180)
      set(arg_TIMEOUT 180)
    endif()
  endif()
  math(EXPR limit "${arg_TIMEOUT} * ${ATELIER_TEST_TIMEOUT_FACTOR}")

  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(${name} PRIVATE
    atelier_options ${arg_LIBS} atelier_test_main Boost::unit_test_framework)
  if(arg_TORCH)
    atelier_use_torch(${name})
  endif()
  if(ATELIER_QUICK_COMPILE AND (arg_HEAVY OR arg_LONG))
    set_target_properties(${name} PROPERTIES ATELIER_LEVEL -O2)
  elseif(ATELIER_SANITIZE AND NOT arg_HEAVY
         OR ATELIER_QUICK_COMPILE AND NOT arg_TORCH)
    # Optimising what Boost.Test's macros become takes longer than running it.
    target_compile_options(${name} PRIVATE -O0)
    set_target_properties(${name} PROPERTIES ATELIER_LEVEL -O0)
    atelier_use_test_header(${name})
  endif()

  if(ATELIER_ONLY_TORCH_TESTS AND NOT arg_TORCH AND NOT arg_BOTH AND NOT arg_LONG
     AND NOT "Atelier::gpu_torch" IN_LIST arg_LIBS
     AND NOT "Atelier::training_torch" IN_LIST arg_LIBS)
    set(left_out ON)
  elseif(NOT ATELIER_ALL_TESTS AND ((ATELIER_SANITIZE AND arg_LONG)
         OR (ATELIER_SANITIZE MATCHES "thread" AND arg_SEQUENTIAL)))
    set(left_out ON)
  else()
    set(left_out OFF)
  endif()
  if(left_out)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()

  add_test(NAME ${name}
    COMMAND ${ATELIER_TEST_LAUNCHER} $<TARGET_FILE:${name}>
      --log_level=message --report_format=XML --report_level=detailed
      "--report_sink=${ATELIER_TEST_RESULTS}/${name}.xml")
  string(TOLOWER "${arg_KIND}" label)
  if(arg_KIND STREQUAL GPU)
    list(APPEND arg_LOCKS gpu0)
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS ${label}
    TIMEOUT ${limit}
    FAIL_REGULAR_EXPRESSION "did not check any assertions"
    RESOURCE_LOCK "${arg_LOCKS}")
  if(arg_KIND STREQUAL STRESS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  if(ATELIER_SANITIZE MATCHES "address")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/test/leaks.supp")
  endif()
endfunction()

# atelier_repeat_test(<name> <again> ENVIRONMENT <variable>... SUITES <suite>...)
#
# Run those suites of the test <name>, which atelier_add_test made, with other
# variables in the environment, too: the ctest test <again>.
function(atelier_repeat_test name again)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ENVIRONMENT;SUITES")
  if(NOT TEST ${name})
    return()
  endif()
  list(JOIN arg_SUITES "," suites)
  add_test(NAME ${again}
    COMMAND ${ATELIER_TEST_LAUNCHER} $<TARGET_FILE:${name}>
      --run_test=${suites} --log_level=message --report_format=XML
      --report_level=detailed
      "--report_sink=${ATELIER_TEST_RESULTS}/${again}.xml")
  get_test_property(${name} LABELS labels)
  get_test_property(${name} TIMEOUT limit)
  set_tests_properties(${again} PROPERTIES
    LABELS "${labels}"
    TIMEOUT ${limit}
    FAIL_REGULAR_EXPRESSION "did not check any assertions"
    ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# Most tests include these: they are parsed once.
function(atelier_use_test_header target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(NOT TARGET atelier_test_header)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/test_header.cpp"
      CONTENT "// Only carries the precompiled header.\n")
    add_library(atelier_test_header STATIC
      "${PROJECT_BINARY_DIR}/test_header.cpp")
    target_link_libraries(atelier_test_header PRIVATE
      atelier_options Boost::unit_test_framework fmt::fmt
      nlohmann_json::nlohmann_json)
    target_compile_options(atelier_test_header PRIVATE -O0)
    set_target_properties(atelier_test_header PROPERTIES ATELIER_LEVEL -O0)
    target_precompile_headers(atelier_test_header PRIVATE
      <boost/test/unit_test.hpp> <fmt/format.h> <nlohmann/json.hpp> <algorithm> <functional> <map>
      <memory> <random> <string> <vector>)
    atelier_cacheable_header(atelier_test_header)
  endif()
  # Whoever uses a precompiled header has the definitions that it was made with.
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM atelier_test_header)
  atelier_cacheable_header(${target})
endfunction()
