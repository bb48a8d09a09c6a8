# SPDX-License-Identifier: Apache-2.0
# The part of gpu that includes LibTorch; gpu/CMakeLists.txt includes this file
# when ATELIER_WITH_TORCH is on.
add_library(atelier_gpu_torch STATIC
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/free_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/latent_mask.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/pass_cache.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/pass_limits.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/prompt_cache.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/source_cache.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/torch_row.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/torch_rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/torch_threads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/torch_executor.cpp
  ${model_torch_sources}
  ${CMAKE_CURRENT_LIST_DIR}/samplers/detail/step_ops.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samplers/step.cpp)
add_library(Atelier::gpu_torch ALIAS atelier_gpu_torch)
target_link_libraries(atelier_gpu_torch
  PUBLIC Atelier::gpu
  PRIVATE atelier_options nlohmann_json::nlohmann_json)
target_include_directories(atelier_gpu_torch PRIVATE
  $<BUILD_INTERFACE:${ATELIER_INCLUDE_DIR}/gpu_detail>)
atelier_use_torch(atelier_gpu_torch)
