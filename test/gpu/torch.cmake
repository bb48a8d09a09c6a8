# SPDX-License-Identifier: Apache-2.0
# The tests of gpu that need LibTorch.
atelier_add_test(gpu_text_and_images
  KIND UNIT TORCH
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/device/prompt_cache_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/autoencoder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/clip_text_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/image_embedder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/large_image_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/latent_preview_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/prompt_classifier_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/text_embedder_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/tiny_bert.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/tiny_model.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/vae_layers_test.cpp
  LIBS Atelier::gpu_torch Atelier::gpu_detail)
target_compile_definitions(gpu_text_and_images PRIVATE
  ATELIER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# What computes convolutions where LibTorch finds no AVX-512.
atelier_repeat_test(gpu_text_and_images gpu_narrow_convolutions
  ENVIRONMENT ATEN_CPU_CAPABILITY=avx2
  SUITES autoencoder_network large_image_test vae_layers)
atelier_add_test(gpu_denoisers
  KIND UNIT
  TORCH
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/device/latent_mask_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/not_numbers_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/out_of_memory_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/pass_cache_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/source_cache_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/torch_captures_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/torch_rows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device/torch_threads_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/mmdit_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/tiny_model.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/unet_test.cpp
  LIBS Atelier::gpu_torch Atelier::gpu_detail Atelier::ipc)
atelier_add_test(gpu_step
  KIND UNIT
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/samplers/step_test.cpp
  LIBS Atelier::gpu_torch Atelier::gpu_detail Atelier::core
  TORCH)
atelier_add_test(gpu_folder_steps
  KIND FAULT
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/models/folder_steps_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/odd_folder.cpp
    ${CMAKE_CURRENT_LIST_DIR}/models/tiny_model.cpp
  LIBS Atelier::gpu_torch Atelier::gpu_detail
  TORCH)
