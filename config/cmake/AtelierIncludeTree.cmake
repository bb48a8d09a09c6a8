# SPDX-License-Identifier: Apache-2.0
# Links in <build>/include/atelier make `#include <atelier/folder/x.hpp>` work
# in the build tree exactly as it does after installation.
set(ATELIER_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")

# The public name of each folder, and where it lies.
set(ATELIER_PUBLIC_FOLDERS
  core:core
  config:config
  ipc:ipc
  planning:planning
  index:index
  gpu:gpu
  actors:actors
  simulation:simulation
  runtime:runtime
  training:training
  bench:bench
  atelier.hpp:runtime/atelier.hpp)

file(MAKE_DIRECTORY "${ATELIER_INCLUDE_DIR}/atelier")
foreach(entry IN LISTS ATELIER_PUBLIC_FOLDERS)
  string(REPLACE ":" ";" entry "${entry}")
  list(GET entry 0 name)
  list(GET entry 1 path)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${path}"
    "${ATELIER_INCLUDE_DIR}/atelier/${name}" SYMBOLIC)
endforeach()

include_directories("${ATELIER_INCLUDE_DIR}")
