// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pipelines of rows whose stages do nothing, for values that are computed from
// rows.

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

// -- when ---------------------------------------------------------------------

inline bool in_leg(const planning::leg* in, bool) {
  return in != nullptr;
}

inline bool brings(const planning::leg* in, bool brings_image) {
  return in != nullptr && brings_image;
}

/// Copies actors' has_source.
inline bool has_source(const planning::leg* in, bool brings_image) {
  return in != nullptr
      && (brings_image
          || (in->from == planning::origin::stage_image && in->skip > 0));
}

inline bool reads_drawn(const planning::leg* in, bool brings_image) {
  return !brings_image && has_source(in, false);
}

inline bool keeps(const planning::leg* in, bool) {
  return in != nullptr && !in->capture.empty();
}

inline bool fetches_state(const planning::leg* in, bool) {
  return in != nullptr && in->from == planning::origin::latent;
}

inline bool draws_noise(const planning::leg* in, bool brings_image) {
  return in != nullptr && !fetches_state(in, brings_image);
}

inline bool fetches_image(const planning::leg* in, bool) {
  return in == nullptr || in->from == planning::origin::image;
}

inline bool reads_image(const planning::leg* in, bool brings_image) {
  return reads_drawn(in, brings_image)
      || (!brings_image && fetches_image(in, false));
}

inline bool has_any_source(const planning::leg* in, bool brings_image) {
  return has_source(in, brings_image)
      || (in != nullptr && fetches_image(in, brings_image));
}

// -- stages -------------------------------------------------------------------

inline planning::stage_ptr prepare_stage() {
  using namespace planning;
  return stage_of("prepare", hook::each_leg,
                  {{held::files, access::reads, brings},
                   {held::pixels, access::reads, reads_drawn},
                   {held::source, access::writes, has_source},
                   {held::state, access::writes, in_leg}});
}

/// @param captures the stage keeps the states that its leg names
inline planning::stage_ptr denoise_stage(bool captures = false) {
  using namespace planning;
  std::vector<slot_use> slots{{held::source, access::reads, has_source},
                              {held::state, access::replaces},
                              {held::pixels, access::writes}};
  if (captures)
    slots.push_back({held::capture, access::writes, keeps});
  return stage_of("denoise", hook::each_leg, slots, place::device);
}

inline planning::stage_ptr finish_stage() {
  using namespace planning;
  return stage_of(
    "finish", hook::before_answer,
    {{held::pixels, access::reads}, {held::encoded, access::writes}});
}

inline planning::stage_ptr remember_stage() {
  using namespace planning;
  return stage_of("remember", hook::after_answer,
                  {{held::capture, access::reads}}, place::background);
}

inline planning::stage_ptr upscale_stage(planning::access how) {
  using namespace planning;
  return stage_of("upscale", hook::before_answer, {{held::pixels, how}});
}

/// A stage that puts an image that was found in place of a drawn one.
inline planning::stage_ptr fetch_stage() {
  using namespace planning;
  return stage_of("fetch", hook::each_leg,
                  {{held::state, access::writes, fetches_state},
                   {held::pixels, access::writes, fetches_image}},
                  place::background);
}

/// Returns the stage that prepares the rows that fetch left.
inline planning::stage_ptr prepare_behind_fetch() {
  using namespace planning;
  return stage_of("prepare", hook::each_leg,
                  {{held::files, access::reads, brings},
                   {held::pixels, access::reads, reads_image},
                   {held::source, access::writes, has_any_source},
                   {held::state, access::writes, draws_noise}});
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

inline planning::pipeline standard_rows() {
  return pipeline_of({prepare_stage(), denoise_stage(), finish_stage()});
}

inline planning::pipeline capturing_rows() {
  return pipeline_of(
    {prepare_stage(), denoise_stage(true), finish_stage(), remember_stage()});
}

inline planning::pipeline fetching_rows() {
  return pipeline_of({fetch_stage(), prepare_behind_fetch(),
                      denoise_stage(true), finish_stage(), remember_stage()});
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
