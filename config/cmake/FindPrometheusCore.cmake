# SPDX-License-Identifier: Apache-2.0
# Find prometheus-cpp's core. Target: PrometheusCore::core. The package's own
# configuration asks for what only its other parts need.
include(FindPackageHandleStandardArgs)

find_path(PrometheusCore_INCLUDE_DIR prometheus/metric_family.h)
find_library(PrometheusCore_LIBRARY prometheus-cpp-core)
mark_as_advanced(PrometheusCore_INCLUDE_DIR PrometheusCore_LIBRARY)
find_package_handle_standard_args(PrometheusCore
  REQUIRED_VARS PrometheusCore_LIBRARY PrometheusCore_INCLUDE_DIR)

if(PrometheusCore_FOUND AND NOT TARGET PrometheusCore::core)
  add_library(PrometheusCore::core UNKNOWN IMPORTED)
  set_target_properties(PrometheusCore::core PROPERTIES
    IMPORTED_LOCATION "${PrometheusCore_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PrometheusCore_INCLUDE_DIR}")
endif()
