# SPDX-License-Identifier: Apache-2.0
# Find hnswlib, which is headers alone. Target: hnswlib::hnswlib.
include(FindPackageHandleStandardArgs)

find_path(hnswlib_INCLUDE_DIR hnswlib/hnswlib.h)
mark_as_advanced(hnswlib_INCLUDE_DIR)
find_package_handle_standard_args(hnswlib REQUIRED_VARS hnswlib_INCLUDE_DIR)

if(hnswlib_FOUND AND NOT TARGET hnswlib::hnswlib)
  add_library(hnswlib::hnswlib INTERFACE IMPORTED)
  set_target_properties(hnswlib::hnswlib PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${hnswlib_INCLUDE_DIR}")
endif()
