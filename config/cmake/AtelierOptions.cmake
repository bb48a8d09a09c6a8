# SPDX-License-Identifier: Apache-2.0
# The options of the build and `atelier_options`, the INTERFACE target that
# carries the compiler flags. Every target of the project links it PRIVATE; it
# is never exported.
include(FeatureSummary)

option(ATELIER_WITH_TORCH "Build the parts that need LibTorch" ON)
option(ATELIER_ONLY_PURE "Build only the folders that need neither CAF nor LibTorch" OFF)
set(ATELIER_ONLY_FOLDERS "" CACHE STRING
  "Build only these folders and their tests, such as core;ipc")
option(ATELIER_WERROR "Treat warnings as errors" OFF)
option(ATELIER_COVERAGE "Instrument for gcov" OFF)
option(ATELIER_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ATELIER_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(ATELIER_INSTALL "Install what is built" ${PROJECT_IS_TOP_LEVEL})
option(ATELIER_BENCH "Build the benchmarks" OFF)
set(ATELIER_CUDA AUTO CACHE STRING "Look for CUDA's toolkit, for kernels: AUTO, ON or OFF")
set_property(CACHE ATELIER_CUDA PROPERTY STRINGS AUTO ON OFF)
option(ATELIER_QUICK_COMPILE
  "Optimise only what computes for long, without debug information" OFF)
option(ATELIER_QUICK_EDGES
  "Optimise little what reads, writes and answers: targets with ATELIER_EDGE" OFF)
set(ATELIER_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
set(ATELIER_TORCH "" CACHE PATH
  "A LibTorch folder or site-packages/torch; empty: build/torch")

if(ATELIER_ONLY_PURE)
  set(ATELIER_WITH_TORCH OFF)
endif()
add_feature_info(ATELIER_WITH_TORCH "${ATELIER_WITH_TORCH}" "models run by LibTorch")
add_feature_info(ATELIER_TESTS "${ATELIER_TESTS}" "tests")
add_feature_info(ATELIER_EXAMPLES "${ATELIER_EXAMPLES}" "example programs")
add_feature_info(ATELIER_BENCH "${ATELIER_BENCH}" "benchmarks")
add_feature_info(ATELIER_WERROR "${ATELIER_WERROR}" "warnings are errors")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(atelier_options INTERFACE)
target_compile_features(atelier_options INTERFACE cxx_std_20)
target_compile_options(atelier_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wsign-conversion>
  # g++ 12 warns of overlapping copies inside std::string (GCC bug 105329).
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
target_compile_definitions(atelier_options INTERFACE
  $<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)
if(ATELIER_WERROR)
  target_compile_options(atelier_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(ATELIER_QUICK_COMPILE)
  # Compiled in two thirds of the time. A target's property ATELIER_LEVEL names
  # another level of optimisation: -O2 where its own code computes for long.
  set(level $<TARGET_PROPERTY:ATELIER_LEVEL>)
  target_compile_options(atelier_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-g0>
    $<$<COMPILE_LANGUAGE:C,CXX>:$<IF:$<BOOL:${level}>,${level},-Og>>)
endif()
if(ATELIER_QUICK_EDGES AND NOT ATELIER_QUICK_COMPILE)
  # These wait for networks, disks and each other, and are half of what the first
  # command needs: compiled in two thirds of the time.
  target_compile_options(atelier_options INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:$<TARGET_PROPERTY:ATELIER_EDGE>>>:-O1>)
endif()
if(ATELIER_SANITIZE)
  # CAF binds a null reference in init_fun_factory.hpp (a lambda actor without
  # arguments); without that one check every other finding can abort.
  set(sanitize_flags "-fsanitize=${ATELIER_SANITIZE}" -fno-sanitize=null
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(ATELIER_SANITIZE MATCHES "address")
    # AddressSanitizer sees what these two find once such a pointer is used;
    # beside it they take a sixth of the compiler's time.
    list(APPEND sanitize_flags -fno-sanitize=object-size,pointer-overflow)
    # Every access is checked for alignment in the folders that read bytes as
    # other types: elsewhere that takes a third of the compiler's time.
    list(APPEND sanitize_flags
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ATELIER_READS_BYTES>>>:-fno-sanitize=alignment>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Large functions call their checks instead of repeating them: compiled in a
    # sixth less time, run in a tenth more. Memory is collected later.
    list(APPEND sanitize_flags --param=asan-instrumentation-with-call-threshold=50
      --param=ggc-min-heapsize=1048576)
  endif()
  target_compile_options(atelier_options INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize_flags}>")
  target_link_options(atelier_options INTERFACE ${sanitize_flags})
endif()
if(ATELIER_COVERAGE)
  target_compile_options(atelier_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:--coverage;-fprofile-update=atomic>)
  target_link_options(atelier_options INTERFACE --coverage)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

  find_program(ATELIER_CCACHE ccache)
  mark_as_advanced(ATELIER_CCACHE)
  if(ATELIER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness is what ccache needs for precompiled headers; the rest lets
    # one clone of the repository use what another has compiled.
    set(launcher "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "${ATELIER_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${launcher}")
  endif()

  # mold 1.10 makes programs that do not start, where LibTorch's headers bring
  # thread-local data without initial values; with -z norelro it makes these,
  # but hangs on others.
  find_program(ATELIER_MOLD mold)
  mark_as_advanced(ATELIER_MOLD)
  set(linker gold)
  if(ATELIER_MOLD)
    execute_process(COMMAND "${ATELIER_MOLD}" --version
      OUTPUT_VARIABLE mold_version)
    if(NOT mold_version MATCHES "^mold [01]\\.")
      set(linker mold)
    endif()
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=${linker})
  check_cxx_source_compiles("int main() {}" ATELIER_LINKS_WITH_${linker})
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(ATELIER_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
  endif()
endif()
