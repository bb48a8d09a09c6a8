// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/kept_state.hpp>
#include <atelier/actors/stages/remember.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/index/key.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

using planning::held;

constexpr planning::slot_use remember_uses[] = {
  {held::capture, planning::access::reads},
  {held::pixels, planning::access::reads},
};

constexpr planning::stage_row remember_row = {
  .name = "remember",
  .version = 3,
  .place = planning::place::background,
  .hook = planning::hook::after_answer,
  .slots = remember_uses,
  .otherwise = planning::if_failed::go_on,
};

// Returns each number of steps once: a leg that was run again after a death
// captured some of them twice, and the copies are equal.
core::result<std::vector<index::left_state>> states_of(
  const planning::worker_context& here, core::latent_shape latent) {
  std::vector<index::left_state> out;
  for (const auto& slot : here.reads.captures) {
    index::left_state x;
    if (const auto seq = here.slots.read(slot, x.bytes); !seq) {
      // A run that ended early leaves the slot as it was granted.
      if (seq.why().code == core::ec::not_found)
        continue;
      return seq.why();
    }
    const auto steps = make_keepable(x.bytes, latent);
    if (!steps)
      return steps.why();
    x.steps = *steps;
    out.push_back(std::move(x));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.steps < b.steps;
  });
  out.erase(std::unique(
              out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.steps == b.steps; }),
            out.end());
  return out;
}

core::result<std::vector<std::byte>> image_of(
  const planning::worker_context& here, core::extent px) {
  const auto bytes = here.slots.view(here.reads[held::pixels]);
  if (!bytes)
    return bytes.why();
  if (bytes->size() != gpu::drawn_bytes(px))
    return core::fail(core::ec::bad_payload,
                      "a drawn image of {}x{} pixels has {} bytes, not {}",
                      px.width, px.height, bytes->size(), gpu::drawn_bytes(px));
  return std::vector<std::byte>(bytes->begin(), bytes->end());
}

// Returns whether a route's first leg started from earlier work.
bool is_made_of_work(const planning::row_view& of) {
  using planning::origin;
  if (of.from == nullptr)
    return false;
  const auto starts = of.route->legs.front().from;
  return starts == origin::image || of.skip > 0;
}

// Returns the request without what keeps requests from being searched for.
core::request as_searched(core::request wanted) {
  static_cast<core::wanted_parameters&>(wanted.fixed) = {};
  wanted.deterministic = false;
  return wanted;
}

} // namespace

remember_stage::remember_stage(std::shared_ptr<index::kept_work> kept,
                               uint32_t most_depth)
  : kept_(std::move(kept)), most_depth_(most_depth) {}

const planning::stage_row& remember_stage::row() const {
  return remember_row;
}

std::optional<remember_stage::work> remember_stage::begin(
  const planning::row_view& of) const {
  // The answer of a route without legs is kept already.
  if (of.route == nullptr || of.route->legs.empty() || of.recipe == nullptr
      || !of.costs.reuse || !index::is_remembered(of.wanted))
    return std::nullopt;
  const auto holds = [&](held x) { return of.holds[static_cast<size_t>(x)]; };
  work order;
  if (is_made_of_work(of)) {
    order.depth = of.from->depth + 1;
    if (order.depth > most_depth_ || of.from->similarity == 1)
      return std::nullopt;
  }
  order.states = of.route->store.latents && holds(held::capture);
  order.image = of.route->store.image && holds(held::pixels);
  if (!order.states && !order.image)
    return std::nullopt;
  const auto whole =
    planning::recipe_of(of.wanted, {}, of.costs.reuse->full, of.costs);
  const auto key_of = [&](const core::recipe& how) {
    return index::key_of(how, of.wanted.text.negative, of.wanted.tenant,
                         of.wanted.text.positive);
  };
  order.key = key_of(whole);
  if (order.key != index::key_for(as_searched(of.wanted), of.costs))
    return std::nullopt;
  // States serve only this very run. An image serves any run if it was drawn in
  // the size for which the search looks; one that another variant drew is no
  // answer by itself.
  if (order.key != key_of(*of.recipe)) {
    order.states = false;
    order.depth = std::max(order.depth, 1u);
  }
  // Pixels of another size are no image that a device drew.
  if (of.px != of.recipe->px || of.recipe->px != whole.px
      || of.recipe->scaled_to != whole.scaled_to)
    order.image = false;
  if (!order.states && !order.image)
    return std::nullopt;
  order.tenant = of.wanted.tenant;
  order.text = of.wanted.text.positive;
  order.latent = planning::latent_of(
    of.costs.variants[of.recipe->variant.value], of.recipe->px);
  order.px = of.recipe->px;
  order.seed = of.recipe->seed;
  return order;
}

core::timespan remember_stage::takes(const work&,
                                     const planning::profile& costs) const {
  return costs.finish;
}

core::result<remember_stage::done> remember_stage::run(
  const work& order, planning::worker_context& here) const {
  index::leftover left;
  left.depth = order.depth;
  left.whose = order.tenant;
  if (order.depth == 0)
    left.seed = order.seed;
  if (order.states) {
    auto states = states_of(here, order.latent);
    if (!states)
      return states.why();
    left.states = std::move(*states);
  }
  if (order.image) {
    auto image = image_of(here, order.px);
    if (!image)
      return image.why();
    left.image = std::move(*image);
    left.px = order.px;
  }
  return done{kept_->keep(order.key, order.text, std::move(left))};
}

core::result<void> remember_stage::end(const done&, planning::facts&) const {
  return {};
}

} // namespace atelier::actors
