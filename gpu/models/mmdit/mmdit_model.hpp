// SPDX-License-Identifier: Apache-2.0
#pragma once

// This header includes LibTorch: only sources of gpu that torch.cmake lists may
// include it.

#include <atelier/gpu/models/clip/clip_encoder.hpp>
#include <atelier/gpu/models/mmdit/mmdit.hpp>
#include <atelier/gpu/models/mmdit/mmdit_family.hpp>
#include <atelier/gpu/models/model.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// A model of Stable Diffusion 3 without T5. A condition has the text's tokens
/// and the pooled text.
class mmdit_model final : public model {
public:
  /// Errors: those of the parts.
  static core::result<std::shared_ptr<const mmdit_model>> load(
    const model_files& from, const placement& where);

  const mmdit& net() const override {
    return *net_;
  }

  condition encode(const prompt_text& asked) const override;
  pass_inputs make_inputs(const pass_key& key) const override;
  void write(const condition& from, const core::recipe& how, bool negative,
             int64_t place, pass_inputs& to) const override;
  core::result<void> accepts(core::extent px) const override;
  uint64_t weight_bytes() const override;

private:
  mmdit_model() = default;

  std::unique_ptr<clip_encoder> text_;
  std::unique_ptr<clip_encoder> text_2_;
  std::unique_ptr<mmdit> net_;
};

/// The family's loader.
core::result<std::shared_ptr<const model>> load_mmdit_model(
  const model_files& from, const placement& where);

} // namespace atelier::gpu
