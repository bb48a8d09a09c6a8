# SPDX-License-Identifier: Apache-2.0
# atelier_includes(<target>)
#
# Give the target of the folder whose CMakeLists.txt calls this an include root
# of its own, in which `#include <atelier/folder/x.hpp>` works in the build tree
# exactly as it does after installation. The root holds links to the folder's
# public headers alone, and goes with the target: who does not link a folder does
# not see its headers, so that an arrow up the layers does not compile.
#
# Headers in detail/ stand in a second root, which only the target itself sees,
# and who links Atelier::<folder>_detail: its tests. A folder below that has a
# CMakeLists.txt is another target's.
set(ATELIER_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")

# What a host includes stands above the folders.
function(atelier_include_name header out)
  if(header MATCHES "^runtime/(atelier|extensions|version)\\.hpp$")
    set(header "${CMAKE_MATCH_1}.hpp")
  endif()
  set(${out} "atelier/${header}" PARENT_SCOPE)
endfunction()

# Make links to `headers` in `root`, and take away what else is there.
function(atelier_link_headers root headers)
  set(wanted "")
  foreach(header IN LISTS headers)
    atelier_include_name("${header}" name)
    list(APPEND wanted "${name}")
    set(link "${root}/${name}")
    if(NOT EXISTS "${link}")
      cmake_path(GET link PARENT_PATH folder)
      file(MAKE_DIRECTORY "${folder}")
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${header}" "${link}" SYMBOLIC)
    endif()
  endforeach()
  file(GLOB_RECURSE there RELATIVE "${root}" "${root}/*.hpp")
  list(REMOVE_ITEM there ${wanted})
  list(TRANSFORM there PREPEND "${root}/")
  if(there)
    file(REMOVE ${there})
  endif()
endfunction()

function(atelier_includes target)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS
    RELATIVE "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  file(GLOB_RECURSE others
    RELATIVE "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(other IN LISTS others)
    cmake_path(GET other PARENT_PATH other)
    list(FILTER headers EXCLUDE REGEX "^${other}/")
  endforeach()
  set(details "${headers}")
  list(FILTER details INCLUDE REGEX "/detail/")
  list(FILTER headers EXCLUDE REGEX "/detail/")

  string(REGEX REPLACE "^atelier_" "" name ${target})
  set(root "${ATELIER_INCLUDE_DIR}/${name}")
  atelier_link_headers("${root}" "${headers}")
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${root}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${target} PROPERTIES
    ATELIER_FOLDER "${folder}"
    ATELIER_HEADERS "${headers}")
  set_property(GLOBAL APPEND PROPERTY ATELIER_FOLDER_TARGETS ${target})
  if(details)
    atelier_link_headers("${root}_detail" "${details}")
    target_include_directories(${target} PRIVATE
      "$<BUILD_INTERFACE:${root}_detail>")
    add_library(${target}_detail INTERFACE)
    add_library(Atelier::${name}_detail ALIAS ${target}_detail)
    target_include_directories(${target}_detail INTERFACE "${root}_detail")
    target_link_libraries(${target}_detail INTERFACE ${target})
  endif()
endfunction()
