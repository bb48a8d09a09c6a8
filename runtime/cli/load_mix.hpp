// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/result.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// What requests of a load differ in: for each field, values with weights, each
/// drawn by itself.
class load_mix {
public:
  /// The fields that may differ, for help texts.
  static std::string fields();

  /// Adds "FIELD=VALUE[:WEIGHT][,VALUE[:WEIGHT]...]", such as
  /// "steps=20:3,50:1" or "deadline_ms=2000,none". A value "none" leaves the
  /// field to the server; a weight left out is 1. A field is added once.
  /// Errors: ec::invalid_argument; the text names the part, its value and what
  ///         is allowed.
  core::result<void> add(std::string_view text, const core::limits& within);

  /// Draws a value of each field into `to`.
  void draw(core::philox& random, generation& to) const;

  /// Calls `f` with each value of each field alone, for checks ahead of a run.
  void each(const std::function<void(const std::string& what,
                                     const generation& with)>& f) const;

private:
  struct choice {
    std::string text;
    double weight = 1;
    std::function<void(generation&)> set;
  };

  struct field {
    std::string name;
    std::vector<choice> choices;
    double weights = 0;
  };

  std::vector<field> fields_;
};

} // namespace atelier::runtime::cli
