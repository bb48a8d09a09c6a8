# SPDX-License-Identifier: Apache-2.0
# atelier_unity()
#
# With ATELIER_UNITY the compiler takes several sources of a target at once:
# headers are parsed, and templates instantiated, once for each group instead of
# once for each source. Which sources fit together says unity_groups.py, which also
# writes the files of groups whose sources get a namespace each. Call it
# last in the top folder. Sources with flags of their own, and those with the
# property SKIP_UNITY_BUILD_INCLUSION, are never grouped.
option(ATELIER_UNITY "Compile the sources of a target in groups" OFF)
set(ATELIER_UNITY_LINES 3000 CACHE STRING "Lines of sources in a group at most")
add_feature_info(ATELIER_UNITY "${ATELIER_UNITY}" "sources compiled in groups")

function(atelier_unity)
  if(NOT ATELIER_UNITY)
    return()
  endif()
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  # A class with a member of a type of its own source is fine in a group.
  target_compile_options(atelier_options INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
    # Groups name their sources by whole paths. Without this ccache takes those
    # of another clone for other sources.
    $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  atelier_unity_of_folder("${PROJECT_SOURCE_DIR}")
endfunction()

function(atelier_unity_of_folder folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "_LIBRARY$|EXECUTABLE" AND NOT type STREQUAL INTERFACE_LIBRARY)
      atelier_unity_of_target(${target} "${folder}")
    endif()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(next IN LISTS below)
    atelier_unity_of_folder("${next}")
  endforeach()
endfunction()

function(atelier_unity_of_target target folder)
  get_target_property(sources ${target} SOURCES)
  set(candidates "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    get_property(own SOURCE "${path}" TARGET_DIRECTORY ${target}
      PROPERTY COMPILE_OPTIONS)
    get_property(definitions SOURCE "${path}" TARGET_DIRECTORY ${target}
      PROPERTY COMPILE_DEFINITIONS)
    get_property(alone SOURCE "${path}" TARGET_DIRECTORY ${target}
      PROPERTY SKIP_UNITY_BUILD_INCLUSION)
    if(path MATCHES "\\.cpp$" AND NOT own AND NOT definitions AND NOT alone
       AND EXISTS "${path}")
      list(APPEND candidates "${path}")
    endif()
  endforeach()
  list(LENGTH candidates count)
  if(count LESS 2)
    return()
  endif()
  set(out "${PROJECT_BINARY_DIR}/unity/${target}")
  execute_process(
    COMMAND "${Python3_EXECUTABLE}"
      "${PROJECT_SOURCE_DIR}/config/cmake/unity_groups.py"
      "${folder}" "${ATELIER_UNITY_LINES}" "${out}" ${candidates}
    OUTPUT_VARIABLE rows
    OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" rows "${rows}")
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON
    UNITY_BUILD_MODE GROUP)
  set(inside "")
  set(files "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^(.*) [^ ]+$" "\\1" file "${row}")
    string(REGEX REPLACE "^.* " "" group "${row}")
    if(group MATCHES "\\.cpp$")
      list(APPEND inside "${file}")
      list(APPEND files "${out}/${group}")
    elseif(group GREATER 0)
      set_source_files_properties("${file}" TARGET_DIRECTORY ${target}
        PROPERTIES UNITY_GROUP "group_${group}")
    endif()
  endforeach()
  # Files of groups take the place of the sources that they include.
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    if(NOT path IN_LIST inside)
      list(APPEND files "${source}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES files)
  # A header that a source includes later must get into its group's file too.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inside})
  set_property(TARGET ${target} PROPERTY SOURCES ${files})
endfunction()
