// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace atelier::test {

/// Draws unit vectors around centres, as texts are around their subjects: a
/// centre plus 0.6 times noise of the centre's length, scaled to length 1.
class clustered {
public:
  clustered(size_t dimensions, size_t clusters, core::philox& random)
    : random_(random) {
    for (size_t i = 0; i < clusters; ++i)
      centres_.push_back(direction(dimensions));
  }

  std::vector<float> draw() {
    const auto& centre = centres_[random_.below(centres_.size())];
    auto out = direction(centre.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = centre[i] + 0.6F * out[i];
    return unit(std::move(out));
  }

private:
  static std::vector<float> unit(std::vector<float> x) {
    double squares = 0;
    for (const double each : x)
      squares += each * each;
    for (auto& each : x)
      each = static_cast<float>(each / std::sqrt(squares));
    return x;
  }

  std::vector<float> direction(size_t dimensions) {
    std::vector<float> out(dimensions);
    for (auto& each : out)
      each = static_cast<float>(random_.normal());
    return unit(std::move(out));
  }

  core::philox& random_;
  std::vector<std::vector<float>> centres_;
};

} // namespace atelier::test
