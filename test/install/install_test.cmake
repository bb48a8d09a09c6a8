# SPDX-License-Identifier: Apache-2.0
# Run by ctest with the variables that CMakeLists.txt passes.
cmake_minimum_required(VERSION 3.25)
set(prefix "${ATELIER_WORK}/prefix")
set(host_build "${ATELIER_WORK}/host")
set(made "${ATELIER_WORK}/made")
file(REMOVE_RECURSE "${prefix}" "${host_build}" "${made}")
file(MAKE_DIRECTORY "${made}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# What an installation finds, it finds by its own place.
# Thousands of lines of names would hide what fails after them.
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${ATELIER_BUILD}"
    --prefix "${prefix}.first"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${prefix}.first" "${prefix}")

# Without a folder of the tree, where the kernel lets a user hide one. Elsewhere
# the libraries that the loader names are all that is looked at.
set(hidden "")
if(ATELIER_INSTALL_TORCH)
  execute_process(COMMAND unshare --user --map-root-user --mount
      mount -t tmpfs none "${ATELIER_TORCH_OF_BUILD}"
    RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(refused EQUAL 0)
    string(CONCAT hide "mount -t tmpfs none \"$1\" && "
      "mount -t tmpfs none \"$2\" && shift 2 && exec \"$@\"")
    set(hidden unshare --user --map-root-user --mount sh -ec "${hide}"
      sh "${ATELIER_TORCH_OF_BUILD}" "${ATELIER_SOURCE}/models")
  endif()
  message(STATUS "LibTorch of the build tree is hidden: ${hidden}")
endif()

# Fail where a program was built for, or loads, LibTorch of the build tree.
function(check_libraries program)
  if(NOT ATELIER_TORCH_OF_BUILD)
    return()
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env LD_TRACE_LOADED_OBJECTS=1
      "${program}"
    OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
  if(NOT loaded MATCHES "libtorch_cpu\\.so => ([^\n]*)/libtorch_cpu\\.so ")
    message(FATAL_ERROR "${program} finds no LibTorch:\n${loaded}")
  endif()
  file(REAL_PATH "${CMAKE_MATCH_1}" from)
  file(REAL_PATH "${ATELIER_TORCH_OF_BUILD}/lib" wanted)
  if(ATELIER_INSTALL_TORCH)
    file(REAL_PATH "${prefix}" wanted)
  endif()
  cmake_path(IS_PREFIX wanted "${from}" right)
  if(NOT right)
    message(FATAL_ERROR "${program} uses LibTorch in ${from}, not ${wanted}")
  endif()
  if(ATELIER_INSTALL_TORCH AND
     loaded MATCHES "=> ${ATELIER_TORCH_OF_BUILD}")
    message(FATAL_ERROR "${program} uses the build tree's:\n${loaded}")
  endif()
endfunction()

if(NOT EXISTS "${prefix}/share/man/man1/atelier-generate.1")
  message(FATAL_ERROR "no manual pages in ${prefix}/share/man/man1")
endif()
check_libraries("${prefix}/bin/atelier")
check_libraries("${prefix}/libexec/atelier/atelier-process")
check_libraries("${prefix}/libexec/atelier/atelier-training")

# Commands with a program of their own find it where it was installed.
foreach(command IN ITEMS "train" "simulate;--reproduce;nothing")
  execute_process(COMMAND ${hidden} "${prefix}/bin/atelier" ${command}
    RESULT_VARIABLE status ERROR_VARIABLE told OUTPUT_QUIET)
  if(NOT status EQUAL 2 OR NOT told MATCHES "PART is missing|'nothing'")
    message(FATAL_ERROR "atelier ${command}: ${status}: ${told}")
  endif()
endforeach()

# Headers lie below their folders' names; what they include is there, and nothing
# of a detail/ is.
file(GLOB_RECURSE installed RELATIVE "${prefix}/include" "${prefix}/include/*.hpp")
foreach(header IN ITEMS atelier.hpp extensions.hpp version.hpp core/error.hpp core/image/codec.hpp
    simulation/simulate.hpp gpu/models/judge/judge_config.hpp)
  if(NOT "atelier/${header}" IN_LIST installed)
    message(FATAL_ERROR "atelier/${header} was not installed")
  endif()
endforeach()
foreach(header IN LISTS installed)
  if(header MATCHES "/(detail|training|bench|cli)/")
    message(FATAL_ERROR "${header} was installed")
  endif()
  file(STRINGS "${prefix}/include/${header}" lines REGEX "#include <atelier/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*<(.*)>.*" "\\1" included "${line}")
    if(NOT "${included}" IN_LIST installed)
      message(FATAL_ERROR "${header} includes ${included}, which is not there")
    endif()
  endforeach()
endforeach()
if(ATELIER_INSTALL_TORCH)
  file(GLOB_RECURSE package "${prefix}/*.cmake")
  foreach(file IN LISTS package)
    file(READ "${file}" text)
    string(FIND "${text}" "${ATELIER_TORCH_OF_BUILD}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${ATELIER_TORCH_OF_BUILD}")
    endif()
  endforeach()
endif()
if(EXISTS "${ATELIER_SOURCE}/build/clip-vocabulary/vocab.json" AND
   NOT EXISTS "${prefix}/share/atelier/clip-vocabulary/vocab.json")
  message(FATAL_ERROR "CLIP's vocabulary was not installed")
endif()

# An image of the test card and one by a model, each in one process and in
# several.
set(looks "--set=devices=[{name='cpu:0',executor='test_card'}]")
if(ATELIER_TORCH_OF_BUILD)
  list(APPEND looks "--model=turbo")
endif()
foreach(look IN LISTS looks)
  foreach(mode IN ITEMS single split)
    string(MD5 name "${look} ${mode}")
    run(${hidden} "${prefix}/bin/atelier" generate "a red circle" "${look}"
      --processes ${mode} --seed 1 -o "${made}/${name}.png")
    file(READ "${made}/${name}.png" head LIMIT 8 HEX)
    if(NOT head STREQUAL "89504e470d0a1a0a")
      message(FATAL_ERROR "${look}, ${mode}: no PNG signature")
    endif()
  endforeach()
endforeach()

function(build_host source binary)
  run("${CMAKE_COMMAND}" -E env --unset=ATELIER_TORCH ${hidden}
    "${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${binary}"
    "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
    -DCMAKE_BUILD_TYPE=Release)
  run(${hidden} "${CMAKE_COMMAND}" --build "${binary}")
  check_libraries("${binary}/host")
endfunction()

build_host("${ATELIER_HOST}" "${host_build}")

execute_process(COMMAND ${hidden} "${host_build}/host"
  OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL ATELIER_VERSION)
  message(FATAL_ERROR "The host printed '${printed}', not ${ATELIER_VERSION}")
endif()

# Each promise of docs/embedding.md, in a process of its own.
execute_process(COMMAND ${hidden} "${host_build}/promises"
  OUTPUT_VARIABLE promises OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" promises "${promises}")
foreach(promise IN LISTS promises)
  run(${hidden} "${host_build}/promises" ${promise})
endforeach()

# A program that loads the engine in a shared library.
run(${hidden} "${host_build}/plugged")

# The host that the README shows, as it is printed there.
function(write_block language file)
  file(READ "${ATELIER_SOURCE}/README.md" text)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md has no block of ${language}")
  endif()
  string(LENGTH "```${language}\n" fence)
  math(EXPR begin "${begin} + ${fence}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(WRITE "${file}" "${text}")
endfunction()

set(shown "${made}/readme")
write_block(cpp "${shown}/main.cpp")
write_block(cmake "${shown}/CMakeLists.txt")
build_host("${shown}" "${shown}/build")
execute_process(COMMAND ${hidden} "${shown}/build/host"
  WORKING_DIRECTORY "${shown}" COMMAND_ERROR_IS_FATAL ANY)
file(READ "${shown}/circle.png" head LIMIT 8 HEX)
if(NOT head STREQUAL "89504e470d0a1a0a")
  message(FATAL_ERROR "The README's host wrote no PNG")
endif()

# The libraries hold inline code of one minor version of LibTorch.
if(ATELIER_TORCH_OF_BUILD)
  file(WRITE "${made}/newer/lib/libtorch_cpu.so" "")
  file(WRITE "${made}/newer/build-version" "2.99.0")
  execute_process(COMMAND ${hidden} "${CMAKE_COMMAND}" -G Ninja
      -S "${shown}" -B "${made}/refused" "-DCMAKE_PREFIX_PATH=${prefix}"
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
      "-DATELIER_TORCH=${made}/newer"
    RESULT_VARIABLE status ERROR_VARIABLE printed OUTPUT_QUIET)
  if(status EQUAL 0 OR NOT printed MATCHES "2\\.99\\.0")
    message(FATAL_ERROR "LibTorch 2.99.0: ${status}: ${printed}")
  endif()
endif()

# All of it takes half a gigabyte.
file(REMOVE_RECURSE "${prefix}" "${host_build}" "${made}")
