# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the package that a host finds with
# find_package(Atelier). The build tree has the programs in the same places, so
# that they find each other and their data by the same relative paths.
include(CMakePackageConfigHelpers)
include(AtelierInstallTorch)  # atelier_torch_rpath()
set(ATELIER_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Atelier")

foreach(program IN ITEMS atelier atelier-process atelier-training atelier-papers)
  if(NOT TARGET ${program})
    continue()
  endif()
  set(destination "${CMAKE_INSTALL_LIBEXECDIR}/atelier")
  if(program STREQUAL atelier)
    set(destination "${CMAKE_INSTALL_BINDIR}")
  endif()
  set_target_properties(${program} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${destination}")
  if(ATELIER_WITH_TORCH)
    atelier_torch_rpath("${destination}" rpath)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "${rpath}")
  endif()
  if(ATELIER_INSTALL)
    install(TARGETS ${program} DESTINATION "${destination}")
  endif()
endforeach()

if(NOT ATELIER_INSTALL)
  return()
endif()

# Collect into <out> the libraries that CMake made in <dir> and below.
function(atelier_libraries_below dir out)
  get_property(targets DIRECTORY "${dir}" PROPERTY BUILDSYSTEM_TARGETS)
  set(libraries "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|INTERFACE)_LIBRARY$"
       AND NOT target STREQUAL atelier_torch_header
       AND NOT target MATCHES "_detail$")
      list(APPEND libraries ${target})
    endif()
  endforeach()
  get_property(children DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS children)
    atelier_libraries_below("${child}" below)
    list(APPEND libraries ${below})
  endforeach()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

set(libraries "")
foreach(folder IN LISTS ATELIER_FOLDERS)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    atelier_libraries_below("${PROJECT_SOURCE_DIR}/${folder}" below)
    list(APPEND libraries ${below})
  endif()
endforeach()

foreach(library IN LISTS libraries)
  # Atelier::core in the host as in the tree.
  string(REGEX REPLACE "^atelier_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  # The project's own compiler flags are not for a host.
  get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  if(links)
    list(TRANSFORM links REPLACE "^(.*atelier_options.*)$"
      "$<BUILD_INTERFACE:\\1>")
    set_target_properties(${library} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${links}")
  endif()
endforeach()

if(libraries)
  install(TARGETS ${libraries} EXPORT AtelierTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT AtelierTargets NAMESPACE Atelier::
    DESTINATION "${ATELIER_PACKAGE_DIR}")
endif()

# The headers of what is exported, under the names that they have in the tree.
foreach(library IN LISTS libraries)
  get_target_property(headers ${library} ATELIER_HEADERS)
  if(NOT headers)
    continue()
  endif()
  foreach(header IN LISTS headers)
    atelier_include_name("${header}" name)
    cmake_path(GET name PARENT_PATH folder)
    install(FILES "${header}"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
  endforeach()
endforeach()

foreach(data IN ITEMS models config/topologies)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${data}")
    get_filename_component(parent "${data}" DIRECTORY)
    install(DIRECTORY "${data}"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/atelier/${parent}")
  endif()
endforeach()

# What set-up downloaded for models in one file.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/build/clip-vocabulary/"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/atelier/clip-vocabulary" OPTIONAL)

set(ATELIER_TORCH_VERSIONS "")
if(AtelierTorch_VERSION MATCHES "^([0-9]+)\\.([0-9]+)")
  math(EXPR next "${CMAKE_MATCH_2} + 1")
  set(ATELIER_TORCH_VERSIONS
    "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}...<${CMAKE_MATCH_1}.${next}")
endif()
set(ATELIER_LIBEXEC "${CMAKE_INSTALL_LIBEXECDIR}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/config/cmake/AtelierConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/AtelierConfig.cmake"
  INSTALL_DESTINATION "${ATELIER_PACKAGE_DIR}"
  PATH_VARS ATELIER_LIBEXEC ATELIER_TORCH_HOME)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/package/AtelierConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/AtelierConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/AtelierConfigVersion.cmake"
  config/cmake/FindAtelierTorch.cmake
  config/cmake/FindCAF.cmake
  config/cmake/FindLpsolve.cmake
  config/cmake/FindPrometheusCore.cmake
  config/cmake/FindWebP.cmake
  config/cmake/Findhnswlib.cmake
  config/cmake/Findhwy.cmake
  config/cmake/FindxxHash.cmake
  config/cmake/packaged_program.cpp
  DESTINATION "${ATELIER_PACKAGE_DIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# The manual pages are made from the installed program's own --help.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET atelier AND Python3_Interpreter_FOUND)
  install(CODE "
    execute_process(
      COMMAND \"${Python3_EXECUTABLE}\"
        \"${PROJECT_SOURCE_DIR}/config/setup/man_pages.py\"
        \"$<TARGET_FILE:atelier>\" \"${PROJECT_BINARY_DIR}/man1\"
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"The manual pages cannot be made\")
    endif()
    file(INSTALL DESTINATION
      \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}\"
      TYPE DIRECTORY FILES \"${PROJECT_BINARY_DIR}/man1\")")
endif()
