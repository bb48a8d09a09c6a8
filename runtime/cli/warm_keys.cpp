// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/warm_keys.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/kept_scope.hpp>

#include <algorithm>
#include <chrono>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

/// Returns the configured devices as they are when an engine has started.
planning::cluster_view cluster_of(const config::settings& x,
                                  const planning::profile& known) {
  planning::cluster_view out;
  for (const auto& device : x.devices) {
    planning::worker_view w;
    w.worker = core::worker_id{static_cast<uint32_t>(out.workers.size()) + 1};
    w.device_kind = config::device_kind(device);
    for (const auto& name : device.variants)
      if (const auto v = planning::find_variant(known, name))
        w.may_host.push_back(*v);
    w.hosting = w.may_host;
    w.memory_bytes = device.memory_bytes;
    w.max_batch = device.max_batch;
    w.seats_free = device.seats;
    out.workers.push_back(std::move(w));
  }
  return out;
}

/// Returns what the routes of a plan that draw from noise keep.
std::vector<kept_parts> parts_of(const planning::plan& made,
                                 const planning::profile& known) {
  const auto steps = known.variants[known.reuse->full.value].steps;
  std::vector<kept_parts> out;
  for (const auto& r : made.routes) {
    if (r.legs.empty() || r.legs.front().from != planning::origin::noise
        || r.legs.front().skip != 0)
      continue;
    kept_parts x;
    x.image = r.store.image;
    if (r.store.latents)
      for (const auto n : r.legs.front().capture)
        if (n > 0 && n <= steps)
          x.steps.push_back(n);
    x.steps.erase(std::unique(x.steps.begin(), x.steps.end()), x.steps.end());
    if ((x.image || !x.steps.empty()) && std::ranges::find(out, x) == out.end())
      out.push_back(std::move(x));
  }
  return out;
}

bool has(const index::kept_text& there, const kept_parts& wanted) {
  return (!wanted.image || there.has_image)
      && std::ranges::includes(there.steps, wanted.steps);
}

} // namespace

result<warm_keys> warm_keys::of(const config::settings& x) {
  if (x.cache.memory_bytes == 0)
    return fail(ec::bad_config, "cache.memory_mib: 0 means no cache");
  if (x.cache.folder.empty())
    return fail(ec::bad_config,
                "cache.folder is missing: a cache in memory ends with this "
                "command");
  warm_keys out;
  out.settings_ = x;
  auto known = know_variants(x);
  if (!known)
    return known.why();
  out.known_ = std::make_shared<const known_variants>(std::move(*known));
  const auto& costs = out.known_->costs;
  const auto policy = policy_of(x, costs);
  if (!policy)
    return policy.why();
  if (!costs.reuse)
    return fail(ec::bad_config,
                "planner.profile: the profile has no 'reuse', without which "
                "nothing is kept; atelier profile --cache measures it");
  const auto made = (*policy)->replan({}, costs, cluster_of(x, costs), {});
  out.kept_ = parts_of(made, costs);
  if (out.kept_.empty())
    return fail(ec::bad_config, "policy.name: '{}' keeps nothing of requests",
                (*policy)->name());
  if (const auto most = out.most_states(); x.arena.capture_slots < most)
    return fail(ec::bad_config,
                "arena.capture_slots: {} are fewer than the {} states that {} "
                "keeps of a request",
                x.arena.capture_slots, most, (*policy)->name());
  const auto digests = digests_of_models(x);
  if (!digests)
    return digests.why();
  out.scope_ = kept_scope(x, *digests);
  auto reads = part_reader_of(x, costs);
  if (!reads)
    return reads.why();
  out.reads_ = std::move(*reads);
  return out;
}

result<kept_name> warm_keys::name_of(const generation& wanted) const {
  const auto made = to_request(wanted, settings_, *known_, core::request_id{1},
                               0, std::chrono::steady_clock::now());
  if (!made)
    return made.why();
  auto key = index::key_for(*made, known_->costs);
  auto part = part_read(reads_, key, wanted.prompt);
  if (settings_.cache.encoder.empty()) {
    const auto vector = index::words_encoder()->encode(part);
    if (!vector)
      return vector.why();
    if (std::ranges::all_of(*vector, [](float v) { return v == 0; }))
      return fail(ec::invalid_argument,
                  "{} has no word by which a later prompt could find it",
                  show_value(wanted.prompt));
  }
  return kept_name{std::move(key), std::move(part)};
}

result<std::set<kept_name>> warm_keys::whole_names() const {
  std::set<kept_name> out;
  if (auto ok =
        index::read_texts(settings_.cache.folder, scope_,
                          [&](index::kept_text x) {
                            if (std::ranges::any_of(kept_, [&](const auto& y) {
                                  return has(x, y);
                                }))
                              out.emplace(std::move(x.key), std::move(x.text));
                          });
      !ok)
    return ok.why();
  return out;
}

uint32_t warm_keys::most_states() const {
  size_t most = 0;
  for (const auto& x : kept_)
    most = std::max(most, x.steps.size());
  return static_cast<uint32_t>(most);
}

const std::string& warm_keys::model() const {
  const auto& costs = known_->costs;
  return costs.variants[costs.reuse->full.value].model;
}

} // namespace atelier::runtime::cli
