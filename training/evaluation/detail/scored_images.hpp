// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/evaluation/evaluation.hpp>

#include <torch/torch.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu::detail {

/// Loads the scorer of a folder. Returns null if the folder does not exist.
/// Errors: ec::bad_payload, ec::io_failed.
core::result<std::shared_ptr<scorer_net>> load_scorer(
  const std::filesystem::path& folder, torch::Device where);

/// Returns unit vectors of texts, [n, width].
torch::Tensor embed(scorer_net& scorer, const std::vector<std::string>& texts,
                    torch::Device where);

/// Returns Pearson's correlation, or 0 if one side does not vary.
double correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Collects measurements of images.
class scored_images {
public:
  /// `scorer` may be null.
  scored_images(std::shared_ptr<scorer_net> scorer, torch::Device where)
    : scorer_(std::move(scorer)), where_(where) {}

  /// Judges images [n, 3, side, side] on the CPU by their captions.
  void add(const torch::Tensor& images, const std::vector<caption>& said);

  /// Returns the means over the images begin..end, without `end`.
  image_quality quality(size_t begin, size_t end) const;

  size_t count() const {
    return objects_.size();
  }

  /// Returns each image's share of right objects.
  const std::vector<double>& objects() const {
    return objects_;
  }

  /// Returns each image's score; empty without a scorer.
  const std::vector<double>& scores() const {
    return scores_;
  }

  /// Returns the features, [n, width]; undefined without a scorer.
  torch::Tensor features() const;

private:
  std::shared_ptr<scorer_net> scorer_;
  torch::Device where_;
  std::vector<double> objects_;
  std::vector<double> right_;
  std::vector<double> said_;
  std::vector<double> fully_;
  std::vector<double> scores_;
  std::vector<torch::Tensor> features_;
};

} // namespace atelier::gpu::detail
