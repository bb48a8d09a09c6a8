// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of stages that ships, for what is computed from their rows, and
// stages that consist only of a row.

#include <atelier/actors/stages/classify.hpp>
#include <atelier/actors/stages/denoise.hpp>
#include <atelier/actors/stages/fetch.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/mask.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/stages/remember.hpp>
#include <atelier/actors/stages/search.hpp>
#include <atelier/actors/stages/standard.hpp>
#include <atelier/planning/pipeline.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::test {

/// A stage that consists only of its row.
class idle_stage {
public:
  struct nothing {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, nothing&) {
      return f();
    }
  };

  using work = nothing;
  using done = nothing;

  idle_stage(planning::stage_row row, std::vector<planning::slot_use> slots)
    : row_(row), slots_(std::move(slots)) {
    row_.slots = slots_;
  }

  idle_stage(idle_stage&& x) noexcept
    : row_(x.row_), slots_(std::move(x.slots_)) {
    row_.slots = slots_;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view&) const {
    return std::nullopt;
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return {};
  }

  core::result<done> run(const work&, planning::worker_context&) const {
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  planning::stage_row row_;
  std::vector<planning::slot_use> slots_;
};

inline planning::stage_ptr stage_of(
  std::string_view name, planning::hook at,
  std::vector<planning::slot_use> slots = {},
  planning::place where = planning::place::cpu_pool) {
  planning::stage_row row;
  row.name = name;
  row.hook = at;
  row.place = where;
  return planning::make_stage(idle_stage{row, std::move(slots)});
}

inline planning::stage_ptr upscale_stage(planning::access how) {
  using namespace planning;
  return stage_of("upscale", hook::before_answer, {{held::pixels, how}});
}

// -- the list that ships ------------------------------------------------------

inline planning::stage_ptr fetch_stage() {
  return planning::make_stage(actors::fetch_stage{nullptr});
}

inline planning::stage_ptr remember_stage() {
  return planning::make_stage(actors::remember_stage{nullptr, 1});
}

/// Returns the list of these parts. Its stages show their rows and cannot run.
inline planning::pipeline list_of(const actors::standard_stages& parts) {
  const auto made = actors::standard_pipeline(parts);
  if (!made)
    throw std::logic_error(core::to_string(made.why()));
  return **made;
}

/// Returns the list of a server without a cache, but for its facts.
inline planning::pipeline standard_list() {
  return list_of({});
}

/// Returns one that only keeps work.
inline planning::pipeline capturing_list() {
  actors::standard_stages parts;
  parts.remember = remember_stage();
  return list_of(parts);
}

/// Returns one that also begins with kept work.
inline planning::pipeline fetching_list() {
  actors::standard_stages parts;
  parts.fetch = fetch_stage();
  parts.remember = remember_stage();
  return list_of(parts);
}

/// Returns the list with every part.
inline planning::pipeline full_list() {
  const auto budget = core::timespan::max();
  actors::standard_stages parts;
  parts.classify = planning::make_stage(actors::classify_stage{
    [] {
      return core::result<std::shared_ptr<const gpu::prompt_classifier>>{
        core::fail(core::ec::not_found, "there is no classifier")};
    },
    budget, 1});
  parts.mask = planning::make_stage(
    actors::mask_stage{{}, core::limits{}.decode, budget, 1});
  parts.search =
    planning::make_stage(actors::search_stage{nullptr, nullptr, budget, 1});
  parts.fetch = fetch_stage();
  parts.remember = remember_stage();
  return list_of(parts);
}

// -- pipelines ----------------------------------------------------------------

/// @pre the stages are in the order of their hooks
inline planning::pipeline pipeline_of(
  const std::vector<planning::stage_ptr>& stages) {
  planning::pipeline out;
  for (const auto& x : stages)
    if (const auto added = out.add(x); !added)
      throw std::logic_error(core::to_string(added.why()));
  return out;
}

// -- routes -------------------------------------------------------------------

inline planning::leg leg_from(planning::origin from, uint32_t skip = 0,
                              std::vector<uint32_t> capture = {}) {
  planning::leg out;
  out.any_of = {core::variant_id{0}};
  out.from = from;
  out.skip = skip;
  out.capture = std::move(capture);
  return out;
}

inline planning::route route_of(std::string name,
                                std::vector<planning::leg> legs) {
  planning::route out;
  out.name = std::move(name);
  out.legs = std::move(legs);
  return out;
}

} // namespace atelier::test
