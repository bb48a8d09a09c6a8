# SPDX-License-Identifier: Apache-2.0
# Which LibTorch the installed programs use. The one that set-up downloaded into
# build/torch goes with the build tree, so its libraries are installed beside
# ours. One that ATELIER_TORCH names stays where it is: its path is absolute.
#
# ATELIER_TORCH_HOME: its folder, below the prefix or absolute.
# atelier_torch_rpath(<destination of a program> <out>)
set(ATELIER_TORCH_HOME "none")
if(NOT ATELIER_WITH_TORCH)
  return()
endif()

set(ATELIER_TORCH_HOME "${AtelierTorch_DIR}")
if(ATELIER_INSTALL_TORCH)
  set(ATELIER_TORCH_HOME "${CMAKE_INSTALL_LIBDIR}/atelier/torch")
  # What nothing links but is loaded by name later.
  set(torch_roots "${AtelierTorch_DIR}/lib/libtorch_cpu.so")
  foreach(name IN ITEMS c10_cuda torch_cuda torch_cuda_linalg)
    if(EXISTS "${AtelierTorch_DIR}/lib/lib${name}.so")
      list(APPEND torch_roots "${AtelierTorch_DIR}/lib/lib${name}.so")
    endif()
  endforeach()
  file(GLOB torch_openmp "${AtelierTorch_DIR}/lib/libgomp*.so*")
  list(APPEND torch_roots ${torch_openmp})
endif()
if(ATELIER_INSTALL)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/install_torch.cmake.in"
    "${PROJECT_BINARY_DIR}/install_torch.cmake" @ONLY)
  install(SCRIPT "${PROJECT_BINARY_DIR}/install_torch.cmake")
endif()

function(atelier_torch_rpath destination out)
  set(home "${ATELIER_TORCH_HOME}")
  if(NOT IS_ABSOLUTE "${home}" AND IS_ABSOLUTE "${destination}")
    message(FATAL_ERROR "ATELIER_INSTALL_TORCH needs relative folders, not "
      "${destination}")
  elseif(NOT IS_ABSOLUTE "${home}")
    file(RELATIVE_PATH home "/${destination}" "/${home}")
    set(home "$ORIGIN/${home}")
  endif()
  set(${out} "${home}/lib" PARENT_SCOPE)
endfunction()
