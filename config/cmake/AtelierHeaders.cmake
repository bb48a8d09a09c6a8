# SPDX-License-Identifier: Apache-2.0
# The target check_headers compiles every public header alone, twice in one
# file: a header that leans on another's includes, or has no include guard,
# fails. Those in detail/ are not public. CMake looks for new headers itself.
# With ATELIER_HEADERS_TENTH of 0..9 only every tenth header is compiled, from
# that one on.
set(ATELIER_HEADERS_TENTH "" CACHE STRING
  "0..9: check_headers compiles only that tenth of the headers")
set(header_number 0)
include(AtelierIncludeTree)

# Collect into <out> the includes of the headers under <path>: whole words such
# as atelier/core/error.hpp. Nested folders of the list come under their own
# name only.
function(atelier_public_headers name path out)
  if(path MATCHES "\\.hpp$")
    set(${out} "atelier/${name}" PARENT_SCOPE)
    return()
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS
    RELATIVE "${PROJECT_SOURCE_DIR}/${path}"
    "${PROJECT_SOURCE_DIR}/${path}/*.hpp")
  list(FILTER headers EXCLUDE REGEX "(^|/)detail/")
  if(path STREQUAL runtime)
    list(FILTER headers EXCLUDE REGEX "^atelier\\.hpp$")
  endif()
  list(TRANSFORM headers PREPEND "atelier/${name}/")
  set(${out} "${headers}" PARENT_SCOPE)
endfunction()

add_custom_target(check_headers)
foreach(entry IN LISTS ATELIER_PUBLIC_FOLDERS)
  string(REPLACE ":" ";" entry "${entry}")
  list(GET entry 0 name)
  list(GET entry 1 path)
  set(target "atelier_${name}")
  if(name STREQUAL atelier.hpp)
    set(target atelier_runtime)
  endif()
  # Not every preset builds every folder.
  if(NOT TARGET ${target} OR NOT EXISTS "${PROJECT_SOURCE_DIR}/${path}")
    continue()
  endif()
  atelier_public_headers(${name} ${path} headers)
  set(sources "")
  set(torch_sources "")
  foreach(header IN LISTS headers)
    math(EXPR tenth "${header_number} % 10")
    math(EXPR header_number "${header_number} + 1")
    if(NOT ATELIER_HEADERS_TENTH STREQUAL ""
       AND NOT tenth EQUAL ATELIER_HEADERS_TENTH)
      continue()
    endif()
    string(REPLACE "/" "_" stem "${header}")
    set(source "${PROJECT_BINARY_DIR}/headers/${stem}.cpp")
    file(GENERATE OUTPUT "${source}"
      CONTENT "#include <${header}>\n#include <${header}>\n")
    # Those with LibTorch are for sources of gpu alone, and share its
    # precompiled header.
    string(REGEX REPLACE "^atelier/${name}" "${path}" file "${header}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${file}" torch_lines
      REGEX "#include <torch/")
    if(torch_lines)
      list(APPEND torch_sources "${source}")
    else()
      list(APPEND sources "${source}")
    endif()
  endforeach()
  if(sources)
    set(check "check_headers_${name}")
    add_library(${check} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_compile_options(${check} PRIVATE -O0 -g0)
    target_link_libraries(${check} PRIVATE atelier_options ${target})
    add_dependencies(check_headers ${check})
  endif()
  if(torch_sources AND ATELIER_WITH_TORCH)
    set(check "check_headers_${name}_torch")
    add_library(${check} OBJECT EXCLUDE_FROM_ALL ${torch_sources})
    target_link_libraries(${check} PRIVATE atelier_options ${target})
    atelier_use_torch(${check})
    add_dependencies(check_headers ${check})
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
