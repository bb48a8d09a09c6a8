# SPDX-License-Identifier: Apache-2.0
# The part of gpu that includes LibTorch; gpu/CMakeLists.txt includes this file
# when ATELIER_WITH_TORCH is on.
add_library(atelier_gpu_torch STATIC
  ${CMAKE_CURRENT_LIST_DIR}/device/torch_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/dense.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/host_weights.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/norms.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/unet_attention.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/unet_embedding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/unet_levels.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/unet_resnet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/detail/unet_transformer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/weights.cpp)
add_library(Atelier::gpu_torch ALIAS atelier_gpu_torch)
target_link_libraries(atelier_gpu_torch
  PUBLIC Atelier::gpu
  PRIVATE atelier_options nlohmann_json::nlohmann_json)
atelier_use_torch(atelier_gpu_torch)
