# SPDX-License-Identifier: Apache-2.0
# atelier_use_torch(<target>...)
#
# Let the sources of these targets include LibTorch. It is linked PRIVATE, so
# no header that another folder sees may include it. The header costs 20 to
# 30 s to parse, hence one precompiled copy is shared by all of them.
function(atelier_use_torch)
  if(NOT TARGET atelier_torch_header)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/torch_header.cpp"
      CONTENT "// Only carries the precompiled header.\n")
    add_library(atelier_torch_header STATIC
      "${PROJECT_BINARY_DIR}/torch_header.cpp")
    target_link_libraries(atelier_torch_header PRIVATE
      atelier_options Atelier::torch)
    target_precompile_headers(atelier_torch_header PRIVATE <torch/torch.h>)
    atelier_cacheable_header(atelier_torch_header)
    atelier_shareable(atelier_torch_header)
  endif()
  foreach(target IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE Atelier::torch)
    target_precompile_headers(${target} REUSE_FROM atelier_torch_header)
    atelier_cacheable_header(${target})
    atelier_shareable(${target})
  endforeach()
endfunction()

# A host's shared library may contain the engine, and the header and all that use it
# are compiled alike, also programs.
function(atelier_shareable target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)
endfunction()

# ccache follows a precompiled header of GCC only with this flag.
function(atelier_cacheable_header target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endfunction()

# Declared before the tests, which are told of it.
if(ATELIER_WITH_TORCH)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${AtelierTorch_DIR}" NORMALIZE
    torch_goes_with_the_tree)
  option(ATELIER_INSTALL_TORCH
    "Install LibTorch's libraries too (default: when they lie in this tree)"
    ${torch_goes_with_the_tree})
endif()
