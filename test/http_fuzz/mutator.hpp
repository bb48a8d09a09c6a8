// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace atelier::test {

/// Changes client input, depending on a seed.
/// Threads: one.
class mutator {
public:
  /// @param words must outlive this
  mutator(uint64_t seed, uint64_t stream,
          const std::vector<std::string>& words);

  /// Changes some bytes, or none in one case of eight.
  /// @param other the source of inserted pieces
  std::string spoil(std::string text, const std::string& other);

  /// Changes fields of an object: their values, names and number.
  std::string spoil_object(const std::string& text, const std::string& other);

  const std::string& pick(const std::vector<std::string>& among);

  uint64_t below(uint64_t n) {
    return random_.below(n);
  }

private:
  void spoil_once(std::string& text, const std::string& other);
  nlohmann::json odd_value();

  core::philox random_;
  const std::vector<std::string>& words_;
};

} // namespace atelier::test
