// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of these headers for the preprocessor, from which the build
/// takes its own. atelier::version() returns that of the linked library.
#define ATELIER_VERSION_MAJOR 0
#define ATELIER_VERSION_MINOR 1
#define ATELIER_VERSION_PATCH 0

/// One number, such as 102 for 0.1.2: for comparisons.
#define ATELIER_VERSION_NUMBER                                                 \
  (ATELIER_VERSION_MAJOR * 10000 + ATELIER_VERSION_MINOR * 100                 \
   + ATELIER_VERSION_PATCH)
