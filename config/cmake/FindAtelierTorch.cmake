# SPDX-License-Identifier: Apache-2.0
# Find LibTorch in a Python wheel or a LibTorch archive, for the CPU or CUDA.
# Target: Atelier::torch. Variables: AtelierTorch_VERSION, AtelierTorch_CUDA
# (whether it can use CUDA), AtelierTorch_DIR.
#
# ATELIER_TORCH, as a variable or in the environment, names the folder that
# holds include/ and lib/, or a virtual environment that has it; empty means
# build/torch of the source tree. The CMake files of the wheel are not used:
# those of a CUDA wheel demand the very CUDA toolkit that it was built with.
#
# COMPONENTS libraries: headers may be missing, as in a folder that
# `cmake --install` made. That is enough to link what was compiled already.
include(FindPackageHandleStandardArgs)

set(torch_from "${ATELIER_TORCH}")
if(NOT torch_from)
  set(torch_from "$ENV{ATELIER_TORCH}")
endif()
if(NOT torch_from)
  set(torch_from "${PROJECT_SOURCE_DIR}/build/torch")
endif()
file(GLOB torch_candidates
  "${torch_from}/lib/python3*/site-packages/torch"
  "${torch_from}/torch")
list(PREPEND torch_candidates "${torch_from}")

set(AtelierTorch_DIR "AtelierTorch_DIR-NOTFOUND")
foreach(candidate IN LISTS torch_candidates)
  if(EXISTS "${candidate}/lib/libtorch_cpu.so" AND
     (EXISTS "${candidate}/include/torch/csrc/api/include/torch/torch.h"
      OR AtelierTorch_FIND_COMPONENTS STREQUAL "libraries"))
    set(AtelierTorch_DIR "${candidate}")
    break()
  endif()
endforeach()

set(AtelierTorch_VERSION "")
foreach(header IN ITEMS
    torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  set(header "${AtelierTorch_DIR}/include/${header}")
  if(EXISTS "${header}" AND NOT AtelierTorch_VERSION)
    file(READ "${header}" torch_version_text)
    set(torch_version_parts "")
    foreach(part IN ITEMS MAJOR MINOR PATCH)
      if(torch_version_text MATCHES "define TORCH_VERSION_${part} ([0-9]+)")
        list(APPEND torch_version_parts "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    list(JOIN torch_version_parts "." AtelierTorch_VERSION)
  endif()
endforeach()
# A LibTorch archive holds this file too.
if(NOT AtelierTorch_VERSION AND EXISTS "${AtelierTorch_DIR}/build-version")
  file(READ "${AtelierTorch_DIR}/build-version" torch_version_text)
  string(REGEX MATCH "^[0-9.]+" AtelierTorch_VERSION "${torch_version_text}")
endif()

find_package_handle_standard_args(AtelierTorch
  REQUIRED_VARS AtelierTorch_DIR
  VERSION_VAR AtelierTorch_VERSION
  HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "no LibTorch in ${torch_from}: run ./atelier once, or set ATELIER_TORCH to a LibTorch folder")

if(AtelierTorch_FOUND AND NOT TARGET Atelier::torch)
  find_package(Threads REQUIRED)
  set(AtelierTorch_CUDA OFF)
  set(torch_libraries torch_cpu)
  if(EXISTS "${AtelierTorch_DIR}/lib/libtorch_cuda.so")
    set(AtelierTorch_CUDA ON)
    list(APPEND torch_libraries c10_cuda torch_cuda)
  endif()
  add_library(Atelier::c10 SHARED IMPORTED)
  set_target_properties(Atelier::c10 PROPERTIES
    IMPORTED_LOCATION "${AtelierTorch_DIR}/lib/libc10.so")
  add_library(Atelier::torch INTERFACE IMPORTED)
  # No symbol of these is named in our code: the kernels of a device register
  # themselves on load. So the linker must keep them, needed or not.
  foreach(library IN LISTS torch_libraries)
    set(file "${AtelierTorch_DIR}/lib/lib${library}.so")
    target_link_libraries(Atelier::torch INTERFACE
      "-Wl,--push-state,--no-as-needed,${file},--pop-state")
  endforeach()
  target_link_libraries(Atelier::torch INTERFACE Atelier::c10 Threads::Threads)
  # at::parallel_for is a template: without OpenMP it runs on one thread. The
  # runtime must be the one that LibTorch itself uses.
  file(GLOB torch_openmp "${AtelierTorch_DIR}/lib/libgomp*.so*")
  if(torch_openmp AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(GET torch_openmp 0 torch_openmp)
    target_compile_options(Atelier::torch INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
    target_link_libraries(Atelier::torch INTERFACE "${torch_openmp}")
  endif()
  # Its headers bring a {fmt} of their own that shadows the system's; no library
  # exports the symbols of that one.
  target_compile_definitions(Atelier::torch INTERFACE FMT_HEADER_ONLY)
  if(EXISTS "${AtelierTorch_DIR}/include")
    target_include_directories(Atelier::torch SYSTEM INTERFACE
      "${AtelierTorch_DIR}/include"
      "${AtelierTorch_DIR}/include/torch/csrc/api/include")
  endif()
  # The headers of c10/cuda want those of CUDA, which come beside a CUDA wheel.
  if(AtelierTorch_CUDA)
    file(GLOB torch_cuda_headers
      "${AtelierTorch_DIR}/../nvidia/cu[0-9]*/include"
      "${AtelierTorch_DIR}/../nvidia/cuda_runtime/include")
    target_include_directories(Atelier::torch SYSTEM INTERFACE
      ${torch_cuda_headers})
  endif()
endif()
