// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

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

/// Loads the scorer of a folder; null where the folder is not there.
/// Errors: ec::bad_payload, ec::io_failed.
core::result<std::shared_ptr<scorer_net>> load_scorer(
  const std::filesystem::path& folder, torch::Device where);

/// Returns unit vectors of texts, [n, width].
torch::Tensor embed(scorer_net& scorer, const std::vector<std::string>& texts,
                    torch::Device where);

/// Returns Pearson's correlation; 0 where one side does not vary.
double correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Sums up what is found in pictures.
class scored_pictures {
public:
  /// `scorer`: may be null.
  scored_pictures(std::shared_ptr<scorer_net> scorer, torch::Device where)
    : scorer_(std::move(scorer)), where_(where) {}

  /// Judges pictures [n, 3, side, side] on the CPU by their captions.
  void add(const torch::Tensor& pictures, const std::vector<caption>& said);

  /// Returns the means of pictures begin..end.
  picture_quality quality(size_t begin, size_t end) const;

  size_t count() const {
    return objects_.size();
  }

  /// By picture: the share of objects that are right, and the score.
  const std::vector<double>& objects() const {
    return objects_;
  }

  const std::vector<double>& scores() const {
    return scores_;
  }

  /// [n, width]; undefined without a scorer.
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
