// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/http/detail/a1111/mask_work.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::runtime::http::detail {

/// The image and mask of a web UI client, with their parameters. It holds
/// files, not pixels, which would take many times the memory while a job waits.
struct inpaint_plan {
  std::vector<uint8_t> image;
  /// White is repainted; empty: no mask.
  std::vector<uint8_t> mask;
  /// Size of the drawn image; 0x0: the size of `image`.
  core::extent px;
  resize_mode resize = resize_mode::stretch;
  bool invert = false;
  double blur_x = 0;
  double blur_y = 0;
  /// Whether the masked part keeps its pixels or is filled with the colours
  /// around it.
  bool keeps_original = true;
  /// Only the part around the mask is drawn, in the size `px`.
  bool only_masked = false;
  uint32_t padding = 0;
};

/// Returns the size of an image that is drawn from one of `px` if its call
/// names no size.
core::extent own_size(core::extent px, const core::limits& within);

/// Sets the image, mask and size that the engine receives, and returns the size
/// of the client's image. If only the masked part is drawn, that is the size of
/// the whole image, which may have four times the pixels of the largest image.
/// @param stop is polled during the work; true cancels it
/// Errors:  ec::bad_payload, ec::out_of_resources, with "image" or "mask".
/// Threads: any; takes as long as decoding and scaling.
core::result<core::extent> prepare(const inpaint_plan& how,
                                   const core::limits& within, generation& into,
                                   const stop_predicate& stop = {});

/// Returns a finished image's file in which the unmasked part is restored and
/// the parameters are kept.
/// @param made from a plan with a mask
core::result<std::vector<uint8_t>> paste_back(const inpaint_plan& how,
                                              const core::limits& within,
                                              const generated_image& made,
                                              uint32_t quality,
                                              const stop_predicate& stop = {});

} // namespace atelier::runtime::http::detail
