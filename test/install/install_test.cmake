# SPDX-License-Identifier: Apache-2.0
# Run by ctest with the variables that CMakeLists.txt passes.
set(prefix "${ATELIER_WORK}/prefix")
set(host_build "${ATELIER_WORK}/host")
file(REMOVE_RECURSE "${prefix}" "${host_build}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" --install "${ATELIER_BUILD}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -G Ninja -S "${ATELIER_HOST}" -B "${host_build}"
  "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
  -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${host_build}")

execute_process(COMMAND "${host_build}/host"
  OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL ATELIER_VERSION)
  message(FATAL_ERROR "The host printed '${printed}', not ${ATELIER_VERSION}")
endif()
