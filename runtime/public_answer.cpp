// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/public_answer.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime {

namespace {

timings to_timings(const actors::row_timings& x) {
  timings t;
  t.queue = x.queue;
  t.classify = x.classify;
  t.retrieve = x.retrieve;
  t.preprocess = x.preprocess;
  t.text = x.text;
  t.denoise = x.denoise;
  t.decode = x.decode;
  t.postprocess = x.postprocess;
  t.first_step = x.first_step;
  t.total = x.total;
  return t;
}

/// Names the level of each ladder; without ladders that the profile does not
/// have.
std::vector<ladder_level> to_levels(const std::vector<uint32_t>& tolerated,
                                    const planning::profile& known) {
  std::vector<ladder_level> out;
  const auto ladders = std::min(tolerated.size(), known.ladders.size());
  for (size_t i = 0; i < ladders; ++i) {
    const auto& ladder = known.ladders[i];
    if (tolerated[i] >= ladder.levels.size())
      continue;
    const auto variant = ladder.levels[tolerated[i]].variant.value;
    if (variant < known.variants.size())
      out.push_back({std::string{planning::name_of(ladder.kind)}, tolerated[i],
                     known.variants[variant].name});
  }
  return out;
}

} // namespace

answer to_public(actors::answer x, const ipc::slot_store& slots,
                 const planning::profile* known) {
  const auto request = x.request->id.value;
  const auto failed = [&](failure why) {
    why.request = request;
    return why;
  };
  if (x.failure.code != core::ec::none)
    return failed(to_failure(x.failure, x.retry_after));
  const auto bytes = slots.view(x.image);
  if (!bytes)
    return failed(to_failure(bytes.why()));
  generated_image p;
  p.request = request;
  p.bytes.assign(reinterpret_cast<const uint8_t*>(bytes->data()),
                 reinterpret_cast<const uint8_t*>(bytes->data())
                   + bytes->size());
  p.format = core::to_string(x.request->output.format);
  p.seed = x.recipe.seed;
  p.prompt = x.request->text.positive;
  p.negative = x.request->text.negative;
  p.model = std::move(x.model);
  p.variant = std::move(x.variant);
  p.route = std::move(x.route);
  each_told([&](const core::parameter&, auto at, auto member) {
    if constexpr (std::is_enum_v<typename decltype(at)::type>)
      p.*member = to_string(x.recipe.*at.used);
    else
      p.*member = x.recipe.*at.used;
  });
  p.steps_run = x.steps_run;
  p.width = x.px.width;
  p.height = x.px.height;
  p.drawn_width = x.recipe.px.width;
  p.drawn_height = x.recipe.px.height;
  p.sha256 = std::move(x.sha256);
  for (auto& one : x.notes)
    p.notes.push_back(
      {std::string{core::to_string(one.code)}, std::move(one.text)});
  if (x.tolerated && known != nullptr)
    p.prompt_class = to_levels(*x.tolerated, *known);
  if (x.reused)
    p.reused =
      reuse{x.reused->from == planning::origin::image ? "image" : "latent",
            x.reused->entry, x.reused->similarity, x.reused->steps};
  p.trace = x.request->trace;
  p.took = to_timings(x.took);
  return p;
}

} // namespace atelier::runtime
