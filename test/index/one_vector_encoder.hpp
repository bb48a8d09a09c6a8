// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/text_encoder.hpp>

#include <string_view>
#include <vector>

namespace atelier::test {

/// Gives all texts one vector.
class one_vector_encoder final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "one vector";
  }

  size_t dimensions() const override {
    return 2;
  }

  core::result<std::vector<float>> encode(std::string_view) const override {
    return std::vector<float>{1, 0};
  }
};

} // namespace atelier::test
