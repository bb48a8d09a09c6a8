# SPDX-License-Identifier: Apache-2.0
# The part of training that includes LibTorch; training/CMakeLists.txt includes
# this file when ATELIER_WITH_TORCH is on.
add_library(atelier_training_torch STATIC
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/detail/drawing_model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/detail/frechet.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/detail/measured_cascade.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/detail/measured_starts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/detail/scored_images.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluation/evaluate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/answer_head.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/autoencoder_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/checkpoint.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/classifier_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/denoiser_data.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/denoiser_figures.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/denoiser_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/discriminator_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/drawn_tensors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/level_store.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/optimiser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/preview_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/sampler_run.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/scorer_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/student_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/text_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/trained_variant.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/training_loop.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/turbo_task.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loops/verdict_store.cpp
  ${CMAKE_CURRENT_LIST_DIR}/networks/autoencoder_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/networks/initialise.cpp
  ${CMAKE_CURRENT_LIST_DIR}/networks/tiny_decoder_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/networks/unet_layers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/networks/unet_net.cpp
  ${CMAKE_CURRENT_LIST_DIR}/train.cpp)
add_library(Atelier::training_torch ALIAS atelier_training_torch)
target_link_libraries(atelier_training_torch
  PUBLIC Atelier::training
  PRIVATE atelier_options Atelier::gpu_torch nlohmann_json::nlohmann_json)
target_include_directories(atelier_training_torch PRIVATE
  $<BUILD_INTERFACE:${ATELIER_INCLUDE_DIR}/training_detail>)
atelier_use_torch(atelier_training_torch)
