# SPDX-License-Identifier: Apache-2.0
# The target check_headers compiles every public header alone, twice in one
# file: a header that leans on another's includes, or has no include guard,
# fails, as does one that includes what its folder's target does not link. Those
# in detail/ are not public. CMake looks for new headers itself.
# With ATELIER_HEADERS_FIRST of 0..39 only every fortieth header is compiled, from
# that one on.
set(ATELIER_HEADERS_FIRST "" CACHE STRING
  "0..39: check_headers compiles every fortieth header from that one on")
set(header_number 0)

add_custom_target(check_headers)
get_property(folder_targets GLOBAL PROPERTY ATELIER_FOLDER_TARGETS)
foreach(target IN LISTS folder_targets)
  get_target_property(headers ${target} ATELIER_HEADERS)
  set(sources "")
  set(torch_sources "")
  foreach(header IN LISTS headers)
    math(EXPR place "${header_number} % 40")
    math(EXPR header_number "${header_number} + 1")
    if(NOT ATELIER_HEADERS_FIRST STREQUAL ""
       AND NOT place EQUAL ATELIER_HEADERS_FIRST)
      continue()
    endif()
    string(REPLACE "/" "_" stem "${header}")
    set(source "${PROJECT_BINARY_DIR}/headers/${stem}.cpp")
    atelier_include_name("${header}" name)
    file(GENERATE OUTPUT "${source}"
      CONTENT "#include <${name}>\n#include <${name}>\n")
    # A header that shares a group sees the includes of the others.
    set_source_files_properties("${source}" PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
    # Those with LibTorch are for a few sources alone, and share its precompiled
    # header.
    file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" torch_lines
      REGEX "#include <torch/")
    if(torch_lines)
      list(APPEND torch_sources "${source}")
    else()
      list(APPEND sources "${source}")
    endif()
  endforeach()
  string(REGEX REPLACE "^atelier_" "check_headers_" check ${target})
  if(sources)
    add_library(${check} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_compile_options(${check} PRIVATE -O0 -g0)
    set_target_properties(${check} PROPERTIES ATELIER_LEVEL -O0)
    target_link_libraries(${check} PRIVATE atelier_options ${target})
    add_dependencies(check_headers ${check})
  endif()
  if(torch_sources AND ATELIER_WITH_TORCH)
    add_library(${check}_torch OBJECT EXCLUDE_FROM_ALL ${torch_sources})
    target_link_libraries(${check}_torch PRIVATE atelier_options ${target})
    atelier_use_torch(${check}_torch)
    add_dependencies(check_headers ${check}_torch)
  endif()
endforeach()

# Once is enough, and only with LibTorch is every header there.
if(ATELIER_WITH_TORCH AND NOT ATELIER_SANITIZE)
  add_test(NAME headers
    COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}"
      --target check_headers)
  math(EXPR limit "1200 * ${ATELIER_TEST_TIMEOUT_FACTOR}")
  set_tests_properties(headers PROPERTIES
    LABELS style
    TIMEOUT ${limit}
    RUN_SERIAL TRUE)
endif()
