# SPDX-License-Identifier: Apache-2.0
# Everything that is found outside the tree. Nothing is downloaded: a missing
# package gives one line with its Debian name, and all of them come at once.
# The same packages stand in config/setup/packages.txt.

# atelier_require(<debian package> <find_package arguments...>)
macro(atelier_require debian_package package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND ATELIER_MISSING
      "${package} not found: install the package ${debian_package}")
  endif()
endmacro()

set(ATELIER_MISSING "")
set(THREADS_PREFER_PTHREAD_FLAG ON)
atelier_require(libc6-dev Threads)
atelier_require(libboost-dev Boost 1.74)
atelier_require(nlohmann-json3-dev nlohmann_json CONFIG)
atelier_require(libtomlplusplus-dev tomlplusplus CONFIG)
atelier_require(libcli11-dev CLI11 CONFIG)
atelier_require(libfmt-dev fmt CONFIG)
atelier_require(libspdlog-dev spdlog CONFIG)
atelier_require(libssl-dev OpenSSL COMPONENTS Crypto SSL)
atelier_require(libsqlite3-dev SQLite3)
atelier_require(libicu-dev ICU COMPONENTS uc i18n)
atelier_require(libpng-dev PNG)
atelier_require(libjpeg-dev JPEG)
atelier_require(libwebp-dev WebP)
atelier_require(liblpsolve55-dev Lpsolve)
atelier_require(libxxhash-dev xxHash)
atelier_require(libhnswlib-dev hnswlib)
atelier_require(libhwy-dev hwy 1.0.3)
if(NOT ATELIER_ONLY_PURE)
  atelier_require(prometheus-cpp-dev PrometheusCore)
  atelier_require(libcaf-dev CAF 0.17.6 EXACT COMPONENTS core io)
endif()
if(ATELIER_TESTS)
  atelier_require(libboost-test-dev Boost 1.74 COMPONENTS unit_test_framework)
endif()
if(ATELIER_MISSING)
  list(JOIN ATELIER_MISSING "\n  " lines)
  message(FATAL_ERROR "Missing system packages:\n  ${lines}")
endif()

if(ATELIER_WITH_TORCH)
  find_package(AtelierTorch 2.7 REQUIRED)  # the first wheels with C++11 strings
endif()

# ATELIER_CUDA_ENABLED says whether CUDA's toolkit is there, for kernels. There are
# none yet: everything is built and tested without it.
set(ATELIER_CUDA_ENABLED OFF)
if(NOT ATELIER_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "ATELIER_CUDA is ${ATELIER_CUDA}, not AUTO, ON or OFF")
endif()
if(NOT ATELIER_CUDA STREQUAL OFF)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Binaries for two generations; their PTX serves every later device.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80 90)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(ATELIER_CUDA_ENABLED ON)
  elseif(ATELIER_CUDA STREQUAL ON)
    message(FATAL_ERROR "ATELIER_CUDA is ON, but no CUDA compiler was found: "
      "install the package nvidia-cuda-toolkit or set CMAKE_CUDA_COMPILER")
  endif()
endif()
add_feature_info(ATELIER_CUDA ${ATELIER_CUDA_ENABLED} "CUDA's toolkit, which no kernel needs yet")
