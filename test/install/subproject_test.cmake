# SPDX-License-Identifier: Apache-2.0
# Run by ctest with the variables that CMakeLists.txt passes.
cmake_minimum_required(VERSION 3.25)
set(build "${ATELIER_WORK}/build")
set(prefix "${ATELIER_WORK}/prefix")
file(REMOVE_RECURSE "${ATELIER_WORK}")

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" -G Ninja -S "${ATELIER_HOST}" -B "${build}"
  "-DATELIER_SOURCE=${ATELIER_SOURCE}" "-DATELIER_TORCH=${ATELIER_TORCH}"
  "-DATELIER_WITH_TORCH=${ATELIER_WITH_TORCH}"
  "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}")
file(GLOB_RECURSE installed RELATIVE "${prefix}" "${prefix}/*")
if(NOT installed STREQUAL "share/outer/CMakeLists.txt")
  message(FATAL_ERROR "Installed with the outer project: ${installed}")
endif()
file(REMOVE_RECURSE "${ATELIER_WORK}")
