// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/source_files.hpp>
#include <atelier/actors/stages/mask.hpp>
#include <atelier/actors/stages/source_decoding.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/sha256.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

constexpr planning::slot_use uses[] = {
  {planning::held::files, planning::access::reads,
   [](const planning::leg*, bool brings_image) { return brings_image; }},
};

uint64_t name_of_template(std::span<const uint8_t> image) {
  const auto digest = core::sha256(std::as_bytes(image));
  uint64_t out = 0;
  for (size_t i = 0; i < sizeof out; ++i)
    out = out << 8 | digest[i];
  return out;
}

double share_of_white(const std::vector<uint8_t>& mask) {
  return static_cast<double>(std::ranges::count(mask, uint8_t{255}))
       / static_cast<double>(mask.size());
}

} // namespace

mask_stage::mask_stage(image::decode_limits most, core::timespan decode,
                       core::timespan budget, double share)
  : most_(std::move(most)), decode_(decode) {
  row_.name = "mask";
  row_.place = planning::place::cpu_pool;
  row_.hook = planning::hook::before_route;
  row_.slots = uses;
  row_.budget = budget;
  row_.budget_share = share;
  row_.otherwise = planning::if_failed::go_on;
  row_.on_demand = true;
}

std::optional<mask_stage::work> mask_stage::begin(
  const planning::row_view& row) const {
  const auto& source = row.wanted.source;
  if (!row.asked.mask || !source || source->mask.empty())
    return std::nullopt;
  // A request with a source always states its size.
  return work{row.wanted.px, source->mask_px.pixels()};
}

core::timespan mask_stage::takes(const work& order,
                                 const planning::profile& costs) const {
  return core::from_seconds(core::to_seconds(costs.source)
                            * static_cast<double>(order.mask_pixels) / 1e6);
}

core::result<mask_stage::done> mask_stage::run(
  const work& order, planning::worker_context& here) const {
  if (here.slots.capacity(kind_of(planning::held::files)) == 0)
    return core::fail(core::ec::not_found,
                      "mask: slots without payload keep no files");
  const auto bytes = here.slots.view(here.reads[planning::held::files]);
  if (!bytes)
    return bytes.why();
  const auto files = parse_source_files(*bytes);
  if (!files)
    return files.why();
  auto most = most_;
  most.stop = [&now = here.now, until = here.now() + decode_] {
    return now() >= until;
  };
  core::extent own;
  const auto grey = decode_source("mask", files->mask, most, order.px, own);
  if (!grey)
    return grey.why();
  done out;
  out.mask.ratio = share_of_white(image::binarize(grey->view()));
  out.mask.template_id = name_of_template(files->image);
  return out;
}

core::result<void> mask_stage::end(const done& outcome,
                                   planning::facts& known) const {
  known.mask = outcome.mask;
  return {};
}

} // namespace atelier::actors
