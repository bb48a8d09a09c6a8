# SPDX-License-Identifier: Apache-2.0
# The part of gpu that includes LibTorch; gpu/CMakeLists.txt includes this file
# when ATELIER_WITH_TORCH is on.
add_library(atelier_gpu_torch STATIC
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/prompt_cache.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/torch_row.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/detail/torch_rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/torch_executor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/device/torch_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/clip/clip_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/clip_layers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/discriminator_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/layers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/module_state.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/picture_judge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/scorer_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/judge/text_encoder_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/conv_layer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/dense.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/group_norm_silu.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/host_weights.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/norms.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/stripes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/layers/detail/upsample_conv.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/placement.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/detail/unet_attention.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/detail/unet_embedding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/detail/unet_levels.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/detail/unet_resnet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/detail/unet_transformer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/diffusion_model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/unet/unet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/autoencoder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/detail/decode_in_tiles.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/detail/kl_coder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/detail/tiny_coder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/detail/vae_blocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/vae/latent_preview.cpp
  ${CMAKE_CURRENT_LIST_DIR}/models/weights.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samplers/detail/step_ops.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samplers/run.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samplers/step.cpp)
add_library(Atelier::gpu_torch ALIAS atelier_gpu_torch)
target_link_libraries(atelier_gpu_torch
  PUBLIC Atelier::gpu
  PRIVATE atelier_options nlohmann_json::nlohmann_json)
target_include_directories(atelier_gpu_torch PRIVATE
  $<BUILD_INTERFACE:${ATELIER_INCLUDE_DIR}/gpu_detail>)
atelier_use_torch(atelier_gpu_torch)
