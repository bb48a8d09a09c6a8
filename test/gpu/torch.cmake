# SPDX-License-Identifier: Apache-2.0
# The tests of gpu that need LibTorch.
atelier_add_test(gpu_torch_info
  KIND UNIT
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/device/torch_info_test.cpp
  LIBS Atelier::gpu_torch)
atelier_add_test(gpu_text_and_pictures
  KIND UNIT TORCH
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/device/prompt_cache_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/autoencoder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/clip_text_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/latent_preview_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/tiny_model.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/vae_layers_test.cpp
  LIBS Atelier::gpu_torch)
atelier_add_test(gpu_unet
  KIND UNIT
  TORCH
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/models/unet_test.cpp
  LIBS Atelier::gpu_torch)
atelier_add_test(gpu_step
  KIND UNIT
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/samplers/step_test.cpp
  LIBS Atelier::gpu_torch Atelier::core
  TORCH)
atelier_add_test(gpu_networks
  KIND UNIT
  TORCH
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/training/networks_test.cpp
  LIBS Atelier::gpu_torch)
atelier_add_test(gpu_training
  KIND UNIT
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/training/answer_head_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/training/autoencoder_net_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/training/checkpoint_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/training/training_test.cpp
  LIBS Atelier::gpu_torch Atelier::core
  TORCH)
atelier_add_test(gpu_evaluation
  KIND UNIT
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/evaluation/evaluate_test.cpp
  LIBS Atelier::gpu_torch Atelier::core
  TORCH)
