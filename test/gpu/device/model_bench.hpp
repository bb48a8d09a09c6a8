// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for tests that torch.cmake lists.

#include "live_executor.hpp"
#include <atelier/core/torch_generator.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/profile.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace atelier::test {

using bytes = std::vector<std::byte>;
using steps = std::vector<uint32_t>;

inline constexpr uint32_t most_slots = 256;
inline constexpr size_t slot_bytes = 1 << 14;
inline constexpr core::extent px{16, 16};

template <class T>
T taken(core::result<T> x) {
  BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// The result of a row.
struct course {
  /// The published states by the number of finished steps.
  std::map<uint32_t, bytes> states;
  steps captured;
  bytes image;
};

struct bench_options {
  size_t capture_bytes = slot_bytes;
  /// Bytes of a state's slot, and of an image's.
  size_t bytes = slot_bytes;
  core::extent size = px;
  /// Sets torch_executor_config::free_bytes.
  uint64_t free_bytes = 0;
};

/// A device with one model, and slots that are granted repeatedly.
class model_bench {
public:
  explicit model_bench(const std::filesystem::path& path,
                       const bench_options& how = {})
    : slots(std::make_shared<ipc::heap_store>(
      1,
      std::array<uint32_t, ipc::slot_kinds>{most_slots, most_slots, most_slots},
      std::array<uint64_t, ipc::slot_kinds>{how.bytes, how.bytes,
                                            how.capture_bytes})) {
    const auto facts = taken(gpu::facts_of(taken(gpu::open_model(path, {}))));
    planning::variant_profile v;
    v.name = "model@1";
    v.model = "model";
    v.steps = 1;
    v.native_px = facts.native_px;
    v.latent_channels = facts.latent_channels;
    v.latent_factor = facts.latent_factor;
    v.step = {{1, 1, core::timespan{1}}};
    planning::profile known;
    known.variants.push_back(v);
    gpu::torch_executor_config c;
    c.threads = 1;
    c.free_bytes = how.free_bytes;
    c.known = std::make_shared<const planning::profile>(known);
    c.variants = {v.name};
    c.models[v.model] = {path, {}};
    shape = planning::latent_of(v, how.size);
    device = taken(gpu::make_torch_executor(c, slots));
    device->connect(
      {[this](gpu::run_report x) { ran.put(std::move(x)); },
       [this](gpu::decode_report x) { decoded.put(std::move(x)); }});
  }

  ipc::slot_ref grant(ipc::slot_kind kind) {
    const auto n = granted_++;
    const ipc::slot_ref x{1, n % most_slots, n / most_slots + 1, kind};
    slots->open(x);
    return x;
  }

  gpu::open_job job(const core::recipe& how, bool masked = false) {
    gpu::open_job x;
    x.ticket = {core::request_id{++requests_}, 1};
    x.recipe = how;
    x.text = {"a a", "a"};
    x.from = grant(ipc::slot_kind::state);
    x.state = grant(ipc::slot_kind::state);
    x.image = grant(ipc::slot_kind::image);
    if (how.from_image)
      x.source = source(masked);
    core::torch_generator noise{how.seed};
    // The autoencoder's sample of a source comes first.
    std::vector<float> sample(how.from_image ? shape.elements() : 0);
    noise.fill(sample);
    const auto into = taken(slots->buffer(x.from));
    noise.fill(taken(gpu::begin_state(into, shape, 0, 0)));
    taken(gpu::begin_state(into, shape, 0, noise.position()));
    taken(slots->publish(x.from, 1, gpu::state_bytes(shape, 0)));
    return x;
  }

  /// Returns the same request in new slots.
  gpu::open_job again(const gpu::open_job& x) {
    auto next = x;
    next.ticket.id = core::request_id{++requests_};
    next.captures.clear();
    next.state = grant(ipc::slot_kind::state);
    next.image = grant(ipc::slot_kind::image);
    return next;
  }

  std::vector<ipc::slot_ref> keep(gpu::open_job& x, const steps& after) {
    std::vector<ipc::slot_ref> into;
    for (const auto n : after) {
      into.push_back(grant(ipc::slot_kind::capture));
      x.captures.push_back({n, into.back()});
    }
    return into;
  }

  /// Returns the content of a slot that is written once.
  bytes kept(const ipc::slot_ref& slot) const {
    const auto there = taken(slots->view(slot));
    return {there.begin(), there.end()};
  }

  /// Returns the same request, starting from a copy of the state after `done`
  /// steps.
  gpu::open_job from_kept(const gpu::open_job& x, const ipc::slot_ref& slot,
                          uint32_t done) {
    auto next = again(x);
    next.from = grant(ipc::slot_kind::state);
    const auto state = kept(slot);
    std::ranges::copy(state, taken(slots->buffer(next.from)).begin());
    taken(slots->publish(next.from, done + 1, state.size()));
    return next;
  }

  /// Runs rows of equal length in one batch, a step at a time.
  /// @param before_decoding called when all steps have run
  std::vector<course> run(const std::vector<gpu::open_job>& jobs,
                          const std::function<void()>& before_decoding = {}) {
    std::vector<core::ticket> who;
    for (const auto& x : jobs) {
      device->open(x);
      who.push_back(x.ticket);
    }
    std::vector<course> out(jobs.size());
    const auto count = core::steps_to_run(jobs.front().recipe);
    for (uint32_t done = 0; done < count;) {
      device->run({who, 1});
      const auto did = ran.take();
      for (size_t i = 0; i < jobs.size(); ++i) {
        const auto& row = did.rows.at(i);
        BOOST_REQUIRE_EQUAL(row.failure.text, "");
        out[i].captured.insert(out[i].captured.end(), row.captured.begin(),
                               row.captured.end());
        done = row.steps_done;
        if (taken(slots->published(jobs[i].state)) == uint64_t{done} + 1)
          taken(slots->read(jobs[i].state, out[i].states[done]));
      }
    }
    if (before_decoding)
      before_decoding();
    for (size_t i = 0; i < jobs.size(); ++i) {
      device->decode(who[i]);
      const auto made = decoded.take();
      BOOST_REQUIRE_EQUAL(made.failure.text, "");
      out[i].image = kept(jobs[i].image);
      device->close(who[i]);
    }
    return out;
  }

  course run(const gpu::open_job& x) {
    return run(std::vector{x}).front();
  }

  std::shared_ptr<ipc::heap_store> slots;
  std::shared_ptr<gpu::executor> device;
  inbox<gpu::run_report> ran;
  inbox<gpu::decode_report> decoded;
  core::latent_shape shape;
  /// Tells the sources of rows from each other.
  uint8_t shade = 0;

private:
  ipc::slot_ref source(bool masked) {
    const auto x = grant(ipc::slot_kind::image);
    const auto into =
      taken(gpu::begin_source(taken(slots->buffer(x)), px, masked));
    for (size_t i = 0; i < into.pixels.size(); ++i)
      into.pixels[i] = static_cast<uint8_t>(i * 7 + shade);
    for (size_t i = 0; i < into.mask.size(); ++i)
      into.mask[i] = i % px.width < px.width / 2 ? 255 : 0;
    taken(slots->publish(x, 1, gpu::source_bytes(px, masked)));
    return x;
  }

  uint32_t granted_ = 0;
  uint64_t requests_ = 0;
};

inline core::recipe recipe_of(core::sampler with, uint64_t seed = 1) {
  core::recipe x;
  x.sampler = with;
  x.steps = 6;
  x.guidance = 3;
  x.px = px;
  x.seed = seed;
  return x;
}

} // namespace atelier::test
