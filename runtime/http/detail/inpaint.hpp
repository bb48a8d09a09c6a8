// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/http/detail/mask_work.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::runtime::http::detail {

/// What the web UI's clients say of an image and its mask. It holds files, not
/// pixels, which would be many times as much for as long as a job waits.
struct inpaint_plan {
  std::vector<uint8_t> image;
  /// White is repainted; empty: there is none.
  std::vector<uint8_t> mask;
  /// Of what is drawn; 0x0: that of the image.
  core::extent px;
  resize_mode resize = resize_mode::stretch;
  bool invert = false;
  double blur_x = 0;
  double blur_y = 0;
  /// Whether the masked part keeps its pixels, or is filled from around it.
  bool keeps_original = true;
  /// Only the part around the mask is drawn, in the size `px`.
  bool only_masked = false;
  uint32_t padding = 0;
};

/// Sets the image, mask and size that the engine gets.
/// Where only the masked part is drawn, the whole image is the answer's size:
/// it may have four times the pixels of the largest picture.
/// @param stop asked again and again; true gives the work up
/// Errors:  ec::bad_payload, ec::out_of_resources, with "image" or "mask".
/// Threads: any; takes as long as decoding and scaling do.
core::result<void> prepare(const inpaint_plan& how, const core::limits& within,
                           generation& into, const stop_predicate& stop = {});

/// Returns a finished picture's file with what was not repainted as it was, and
/// the same parameters within.
/// @param made of a plan with a mask
core::result<std::vector<uint8_t>> paste_back(const inpaint_plan& how,
                                              const core::limits& within,
                                              const picture& made,
                                              uint32_t quality,
                                              const stop_predicate& stop = {});

} // namespace atelier::runtime::http::detail
