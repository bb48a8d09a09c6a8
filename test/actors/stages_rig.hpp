// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/stage.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// One request of 16x16 pixels, the slots that a stage gets for it, and the
/// memory of other requests.
struct stages_rig {
  static constexpr core::latent_shape latent{4, 2, 2};
  static constexpr size_t image_bytes = size_t{3} * 16 * 16;

  std::shared_ptr<index::memory> kept =
    std::make_shared<index::memory>(index::cache_bounds{1 << 20, 100});
  ipc::heap_store slots{1, {4, 4, 4}, {4096, 4096, 4096}};
  std::vector<core::note> notes;
  planning::worker_context here{
    slots, {}, {}, [] { return core::time_point{}; }, notes};
  planning::profile costs;
  core::request wanted;
  core::recipe how;
  planning::facts known;
  planning::route along;
  planning::match from;

  stages_rig() {
    auto v = *planning::parse_variant("base@20");
    v.step = {{1, 16 * 16, std::chrono::milliseconds{10}}};
    costs.variants = {v, v};
    costs.prepare = std::chrono::milliseconds{3};
    costs.finish = std::chrono::milliseconds{4};
    auto& reuse = costs.reuse.emplace();
    reuse.full = core::variant_id{0};
    reuse.steps = 20;
    reuse.retrieval = std::chrono::milliseconds{7};
    wanted.id = core::request_id{1};
    wanted.text = {"a red fox", "blurry"};
    wanted.px = {16, 16};
    wanted.seed = 5;
    how = planning::recipe_of(wanted, {}, core::variant_id{0}, costs);
  }

  std::string key() const {
    return index::key_for(wanted, costs);
  }

  /// Returns a row that runs the route's first leg.
  planning::row_view row() {
    planning::row_view out{wanted, known, costs};
    out.route = &along;
    out.leg = along.legs.empty() ? nullptr : &along.legs.front();
    out.recipe = &how;
    return out;
  }

  void add_leg(planning::origin starts) {
    planning::leg x;
    x.any_of = {core::variant_id{0}};
    x.from = starts;
    along.legs.push_back(std::move(x));
  }

  /// Returns the `n`th slot of a kind, newly granted.
  ipc::slot_ref slot(ipc::slot_kind kind, uint32_t n = 0) {
    const ipc::slot_ref out{1, n, ++generations_, kind};
    slots.open(out);
    return out;
  }

  /// Returns a state, aligned to 8 bytes.
  static std::vector<std::byte> state(uint32_t steps, float value,
                                      size_t history_floats = 0,
                                      core::extent preview = {},
                                      core::latent_shape shape = latent) {
    const std::vector<float> history(history_floats, value);
    const auto history_bytes = std::as_bytes(std::span{history});
    const std::vector<uint8_t> rgb(preview.pixels() * 3, 9);
    std::vector<std::byte> out(
      gpu::state_bytes(shape, history_bytes.size(), preview));
    const auto into =
      gpu::begin_state(out, shape, steps, 11, history_bytes, {preview, rgb});
    std::fill(into->begin(), into->end(), value);
    return out;
  }

  void publish(const ipc::slot_ref& into, const std::vector<std::byte>& bytes,
               uint64_t seq = 1) {
    const auto buffer = slots.buffer(into);
    BOOST_REQUIRE(buffer);
    std::memcpy(buffer->data(), bytes.data(), bytes.size());
    BOOST_REQUIRE(slots.publish(into, seq, bytes.size()));
  }

  /// Returns the slot's published bytes; empty if nothing is published.
  std::vector<std::byte> published(const ipc::slot_ref& at) const {
    std::vector<std::byte> out;
    if (!slots.read(at, out))
      out.clear();
    return out;
  }

  /// Keeps the work of an earlier request with that text, and lets the row
  /// start from it.
  void keep(index::leftover what, std::string_view text = "a red fox") {
    BOOST_REQUIRE(kept->keep(key(), text, std::move(what)));
    from = kept->near(key(), text, {1}).front();
  }

private:
  uint32_t generations_ = 0;
};

template <class T>
core::ec code_of(const core::result<T>& x) {
  return x ? core::ec::none : x.why().code;
}

/// Returns a copy of a body that crossed to another process.
template <class T>
T crossed(const T& x) {
  const std::string sent = core::typed_body::of(x).to_bytes();
  const auto back = core::typed_body::from_bytes(sent).as<T>();
  BOOST_REQUIRE(back);
  BOOST_REQUIRE(!core::typed_body::from_bytes(sent + '\0').as<T>());
  for (size_t n = 0; n < sent.size(); ++n)
    BOOST_REQUIRE(!core::typed_body::from_bytes(sent.substr(0, n)).as<T>());
  return **back;
}

} // namespace atelier::test
