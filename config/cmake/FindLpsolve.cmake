# SPDX-License-Identifier: Apache-2.0
# Find lp_solve 5.5. Target: Lpsolve::lpsolve.
#
# The static library is the one taken: Debian keeps the shared one in
# /usr/lib/lp_solve, outside the loader's path.
include(FindPackageHandleStandardArgs)

find_path(Lpsolve_INCLUDE_DIR lpsolve/lp_lib.h)
find_library(Lpsolve_LIBRARY NAMES liblpsolve55_pic.a lpsolve55)
mark_as_advanced(Lpsolve_INCLUDE_DIR Lpsolve_LIBRARY)
find_package_handle_standard_args(Lpsolve
  REQUIRED_VARS Lpsolve_LIBRARY Lpsolve_INCLUDE_DIR)

if(Lpsolve_FOUND AND NOT TARGET Lpsolve::lpsolve)
  # lp_solve loads basis packages at run time, and is spread over SuiteSparse.
  find_library(Lpsolve_colamd_LIBRARY colamd)
  mark_as_advanced(Lpsolve_colamd_LIBRARY)
  add_library(Lpsolve::lpsolve UNKNOWN IMPORTED)
  set_target_properties(Lpsolve::lpsolve PROPERTIES
    IMPORTED_LOCATION "${Lpsolve_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Lpsolve_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${Lpsolve_colamd_LIBRARY};${CMAKE_DL_LIBS};m")
endif()
