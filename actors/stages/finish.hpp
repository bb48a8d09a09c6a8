// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/note.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Encodes the pixels of the answer, with its parameters as metadata.
class finish_stage {
public:
  struct work {
    core::recipe recipe;
    core::prompt_pair text;
    std::string model;
    std::string variant;
    core::encoding output;
    /// The size of the pixels.
    core::extent px;
    /// Notes that the file's metadata contain in addition to the parameters.
    std::vector<core::note> notes;

    friend bool operator==(const work&, const work&) = default;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.recipe, x.text, x.model, x.variant, x.output, x.px, x.notes);
    }
  };

  struct done {
    uint64_t bytes = 0;
    std::string sha256;

    friend bool operator==(const done&, const done&) = default;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.bytes, x.sha256);
    }
  };

  /// @param test_crash_seed a request with this seed kills the process; 0: none
  explicit finish_stage(uint32_t test_crash_seed = 0);

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const;
  core::timespan takes(const work& x, const planning::profile& costs) const;
  /// Errors: ec::invalid_argument if the file does not fit its slot; those of
  ///         the slots and of the encoder.
  core::result<done> run(const work& x, planning::worker_context& here) const;
  core::result<void> end(const done& x, planning::facts& known) const;

private:
  planning::stage_row row_;
  uint32_t test_crash_seed_ = 0;
};

} // namespace atelier::actors
