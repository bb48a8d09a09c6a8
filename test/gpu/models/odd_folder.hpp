// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/models/mutate.hpp"
#include "gpu/models/tiny_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::test {

/// A model's folder with drawn sizes, most of which no library has written:
/// channels, groups, heads, widths and layers. Some of the folders have a fault
/// too: parts that do not fit each other, changed configurations, tensors that
/// are missing or of another shape, files that are cut.
class odd_folder : public tiny_folder {
public:
  explicit odd_folder(uint64_t seed) : draw_(seed) {}

  /// Writes another model.
  void next();

  /// Returns the configurations, for messages.
  std::string configs() const;

private:
  bool one_of(size_t n) {
    return draw_.below(n) == 0;
  }

  int64_t within(int64_t low, int64_t high) {
    return low
         + static_cast<int64_t>(
             draw_.below(static_cast<size_t>(high - low + 1)));
  }

  /// Returns a number, or seldom another one.
  int64_t mostly(int64_t x) {
    return one_of(40) ? within(1, 100) : x;
  }

  std::string draw_unet(int64_t latent, int64_t text_width);
  std::string draw_vae(int64_t latent);
  /// Writes a configuration and, if it is supported, its tensors.
  void put(const std::string& part, const std::string& class_name,
           std::string config, const std::string& file);
  void damage(tensor_box& x);
  void cut(const std::string& file);

  mutator draw_;
};

} // namespace atelier::test
