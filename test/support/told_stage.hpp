// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/planning/pipeline.hpp>
#include <atelier/planning/stage.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// A stage whose functions a test supplies.
class told_stage {
public:
  struct work {
    uint64_t about = 0;
    /// The size of the row's pixels when the order was made, and the size that
    /// the stage gives them; empty: the same.
    core::extent seen = {};
    core::extent becomes = {};

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.about, x.seen, x.becomes);
    }
  };

  struct done {
    uint64_t found = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.found);
    }
  };

  struct script {
    /// If empty, every request has work, which carries the request's number.
    std::function<std::optional<work>(const planning::row_view&)> begin = {};
    /// If empty, it finds nothing.
    std::function<core::result<done>(const work&, planning::worker_context&)>
      run = {};
    /// If empty, it adds no fact.
    std::function<core::result<void>(const done&, planning::facts&)> end = {};
    /// If empty, it changes no size.
    std::function<core::extent(const work&)> px = {};
    core::timespan takes{0};
  };

  told_stage(planning::stage_row row, std::vector<planning::slot_use> slots,
             script says)
    : row_(row),
      slots_(
        std::make_shared<std::vector<planning::slot_use>>(std::move(slots))),
      says_(std::move(says)) {
    row_.slots = *slots_;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const {
    return says_.begin ? says_.begin(of) : work{of.wanted.id.value};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return says_.takes;
  }

  core::extent px(const work& x) const {
    return says_.px ? says_.px(x) : core::extent{};
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    return says_.run ? says_.run(x, here) : done{};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    return says_.end ? says_.end(x, known) : core::result<void>{};
  }

private:
  planning::stage_row row_;
  std::shared_ptr<std::vector<planning::slot_use>> slots_;
  script says_;
};

/// Returns a stage with a test's own functions. `name` must outlive the stage.
inline planning::stage_ptr told(
  std::string_view name, planning::hook at, planning::if_failed otherwise,
  std::vector<planning::slot_use> slots = {}, told_stage::script says = {},
  planning::place where = planning::place::cpu_pool,
  core::timespan budget = core::timespan::max()) {
  planning::stage_row row;
  row.name = name;
  row.hook = at;
  row.place = where;
  row.otherwise = otherwise;
  row.budget = budget;
  return planning::make_stage(
    told_stage{row, std::move(slots), std::move(says)});
}

/// Returns Atelier's own stages together with `more`: fact stages, stages
/// before `prepare`, stages behind another one, and stages after the answer.
inline std::shared_ptr<const planning::pipeline> pipeline_with(
  actors::standard_stages own, std::vector<actors::added_stage> more = {}) {
  auto out = actors::standard_pipeline(own, more);
  if (!out)
    throw std::logic_error(core::to_string(out.why()));
  return *out;
}

} // namespace atelier::test
