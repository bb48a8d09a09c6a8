# SPDX-License-Identifier: Apache-2.0
# Find libwebp, encoder and decoder. Target: WebP::webp, as upstream names it.
include(FindPackageHandleStandardArgs)

find_path(WebP_INCLUDE_DIR webp/encode.h)
find_library(WebP_LIBRARY webp)
mark_as_advanced(WebP_INCLUDE_DIR WebP_LIBRARY)
find_package_handle_standard_args(WebP
  REQUIRED_VARS WebP_LIBRARY WebP_INCLUDE_DIR)

if(WebP_FOUND AND NOT TARGET WebP::webp)
  add_library(WebP::webp UNKNOWN IMPORTED)
  set_target_properties(WebP::webp PROPERTIES
    IMPORTED_LOCATION "${WebP_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${WebP_INCLUDE_DIR}")
endif()
