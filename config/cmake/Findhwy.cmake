# SPDX-License-Identifier: Apache-2.0
# Find Highway's headers; its library is not needed. Target: hwy::headers, which does
# not clash with those of Highway's own hwy-config.cmake. Sets hwy_VERSION.
include(FindPackageHandleStandardArgs)

find_path(hwy_INCLUDE_DIR hwy/highway.h)
mark_as_advanced(hwy_INCLUDE_DIR)
set(hwy_VERSION "")
if(hwy_INCLUDE_DIR)
  # Later versions define them in base.h.
  set(hwy_files "${hwy_INCLUDE_DIR}/hwy/highway.h" "${hwy_INCLUDE_DIR}/hwy/base.h")
  foreach(hwy_file IN LISTS hwy_files)
    file(STRINGS "${hwy_file}" hwy_numbers
      REGEX "^#define HWY_(MAJOR|MINOR|PATCH) [0-9]+")
    if(hwy_numbers AND NOT hwy_VERSION)
      list(TRANSFORM hwy_numbers REPLACE ".* " "")
      list(JOIN hwy_numbers "." hwy_VERSION)
    endif()
  endforeach()
  unset(hwy_files)
  unset(hwy_numbers)
endif()
find_package_handle_standard_args(hwy REQUIRED_VARS hwy_INCLUDE_DIR
  VERSION_VAR hwy_VERSION)

if(hwy_FOUND AND NOT TARGET hwy::headers)
  add_library(hwy::headers INTERFACE IMPORTED)
  set_target_properties(hwy::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${hwy_INCLUDE_DIR}")
endif()
