// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/torch_noise.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/runtime/detail/device_reports.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/make_executor.hpp>
#include <atelier/runtime/measure.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace atelier::runtime {

namespace {

// Whether an error is one of the model, with which the rest can be measured.
bool is_of_model(const core::error& why) {
  return why.code == core::ec::bad_payload || why.code == core::ec::internal;
}

using clock = std::chrono::steady_clock;
using detail::device_reports;

// Returns a line "NAME: N kB" of this process's status in bytes.
uint64_t status_bytes(std::string_view name) {
  std::ifstream from{"/proc/self/status"};
  for (std::string line; std::getline(from, line);)
    if (line.starts_with(name)) {
      std::istringstream rest{line.substr(name.size() + 1)};
      uint64_t kib = 0;
      rest >> kib;
      return kib << 10;
    }
  return 0;
}

// Resets the peak of resident memory.
void forget_peak() {
  std::ofstream{"/proc/self/clear_refs"} << "5";
}

core::timespan median(std::vector<core::timespan> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// One device with slots for the largest batch.
class measured_device {
public:
  measured_device(const measurement& wanted,
                  std::shared_ptr<const planning::profile> known)
    : wanted_(wanted), known_(std::move(known)) {}

  core::result<core::timespan> load(const config::device_settings& device) {
    uint32_t most_rows = 1;
    for (const auto x : wanted_.batches)
      most_rows = std::max(most_rows, x);
    const auto& a = wanted_.settings.arena;
    slots_ = std::make_shared<ipc::heap_store>(
      1,
      // One more image slot is for a source.
      std::array<uint32_t, ipc::slot_kinds>{2 * most_rows, most_rows + 1, 0},
      std::array<uint64_t, ipc::slot_kinds>{a.state_slot_bytes,
                                            a.image_slot_bytes, 64});
    const auto begin = clock::now();
    auto made = make_executor(wanted_.settings, device, known_, slots_);
    if (!made)
      return made.why();
    device_ = std::move(*made);
    reports_.connect(*device_);
    return core::timespan{clock::now() - begin};
  }

  struct point {
    core::timespan step{0};
    core::timespan text{0};
    /// Times of the rows, one after the other.
    std::vector<core::timespan> decodes;
  };

  core::result<point> run(core::variant_id id, uint32_t batch,
                          core::extent px) {
    std::vector<gpu::open_job> jobs;
    gpu::run_job run;
    for (uint32_t i = 0; i < batch; ++i) {
      auto job = make_job(id, i, px);
      if (!job)
        return job.why();
      device_->open(*job);
      run.rows.push_back(job->ticket);
      jobs.push_back(std::move(*job));
    }
    point out;
    std::vector<core::timespan> steps;
    for (uint32_t i = 0; i <= wanted_.steps; ++i) {
      device_->run(run);
      const auto did = reports_.run();
      for (const auto& row : did.rows)
        if (row.failure.code != core::ec::none)
          return row.failure;
      if (i == 0)
        out.text = did.opening / batch;
      else
        steps.push_back(did.took);
    }
    out.step = median(steps);
    for (const auto& job : jobs) {
      device_->decode(job.ticket);
      const auto decoded = reports_.decoded();
      if (decoded.failure.code != core::ec::none)
        return decoded.failure;
      out.decodes.push_back(decoded.took);
      device_->close(job.ticket);
    }
    return out;
  }

  // Returns the time of encoding a source; 0 if the device encodes none.
  core::result<core::timespan> encode(core::variant_id id, core::extent px) {
    std::vector<core::timespan> took;
    for (uint32_t i = 0; i < std::max(wanted_.steps, 1u); ++i) {
      auto job = make_job(id, 0, px);
      if (!job)
        return job.why();
      const auto source = make_source(px);
      // The slots hold the images that it draws, and none with more beside
      // them.
      if (!source && source.why().code == core::ec::out_of_resources)
        return core::timespan{0};
      if (!source)
        return source.why();
      job->source = *source;
      job->recipe.from_image = true;
      device_->open(*job);
      device_->run({{job->ticket}, 1});
      const auto did = reports_.run();
      device_->close(job->ticket);
      for (const auto& row : did.rows) {
        if (row.failure.code != core::ec::none)
          return row.failure;
        took.push_back(row.encoding);
      }
    }
    return median(took);
  }

private:
  // Writes an image of noise, which no other source equals.
  core::result<ipc::slot_ref> make_source(core::extent px) {
    uint32_t images = 1;
    for (const auto x : wanted_.batches)
      images = std::max(images, x);
    const auto out = grant(ipc::slot_kind::image, images);
    const auto into = slots_->buffer(out);
    if (!into)
      return into.why();
    const auto parts = gpu::begin_source(*into, px, false);
    if (!parts)
      return parts.why();
    std::vector<float> noise(parts->pixels.size());
    core::torch_randn(requests_, noise);
    std::ranges::transform(noise, parts->pixels.begin(), [](float x) {
      return static_cast<uint8_t>(std::clamp(128 + 40 * x, 0.f, 255.f));
    });
    if (auto done = slots_->publish(out, 1, gpu::source_bytes(px, false));
        !done)
      return done.why();
    return out;
  }

  ipc::slot_ref grant(ipc::slot_kind kind, uint32_t slot) {
    ipc::slot_ref x;
    x.arena = 1;
    x.kind = kind;
    x.slot = slot;
    x.generation = ++generation_;
    slots_->open(x);
    return x;
  }

  core::result<gpu::open_job> make_job(core::variant_id id, uint32_t i,
                                       core::extent px) {
    const auto& v = known_->variants[id.value];
    gpu::open_job x;
    x.ticket = {core::request_id{++requests_}, 1};
    x.recipe.variant = id;
    x.recipe.sampler = v.sampler;
    x.recipe.karras = v.karras;
    x.recipe.steps = wanted_.steps + 1;
    x.recipe.guidance = v.guidance;
    x.recipe.px = px;
    x.recipe.seed = requests_;
    // The texts differ, so that none is encoded once for all.
    x.text.positive = "measurement " + std::to_string(requests_);
    x.from = grant(ipc::slot_kind::state, 2 * i);
    x.state = grant(ipc::slot_kind::state, 2 * i + 1);
    x.image = grant(ipc::slot_kind::image, i);
    const auto shape = planning::latent_of(v, px);
    const auto into = slots_->buffer(x.from);
    if (!into)
      return into.why();
    const auto latent = gpu::begin_state(*into, shape, 0, 0);
    if (!latent)
      return latent.why();
    core::torch_randn(x.recipe.seed, *latent);
    if (auto out = slots_->publish(x.from, 1, gpu::state_bytes(shape, 0)); !out)
      return out.why();
    return x;
  }

  const measurement& wanted_;
  std::shared_ptr<const planning::profile> known_;
  std::shared_ptr<ipc::heap_store> slots_;
  // Outlives the device, whose thread reports to it.
  device_reports reports_;
  std::shared_ptr<gpu::executor> device_;
  uint64_t requests_ = 0;
  uint32_t generation_ = 0;
};

// Returns the caller's sizes; without them, the native one and half its sides.
// A profile identifies sizes by their pixels: the first of equal ones is
// measured.
std::vector<core::extent> sizes_for(const measurement& wanted,
                                    const planning::variant_profile& v) {
  const auto half = [](uint32_t side) {
    return std::max(core::grid_px, side / 2 / core::grid_px * core::grid_px);
  };
  auto all = wanted.sizes;
  if (all.empty())
    all = {{half(v.native_px.width), half(v.native_px.height)}, v.native_px};
  std::vector<core::extent> out;
  for (const auto& px : all)
    if (std::none_of(out.begin(), out.end(),
                     [&](const auto& x) { return x.pixels() == px.pixels(); }))
      out.push_back(px);
  return out;
}

std::vector<uint32_t> batches_of(const measurement& wanted) {
  auto out = wanted.batches;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

core::timespan time_noise(const planning::variant_profile& v) {
  std::vector<float> latent(planning::latent_of(v, v.native_px).elements());
  const auto begin = clock::now();
  core::torch_randn(1, latent);
  return clock::now() - begin;
}

core::result<core::timespan> time_encoding(core::extent px) {
  std::vector<float> noise(px.pixels() * 3);
  core::torch_randn(1, noise);
  std::vector<uint8_t> pixels(noise.size());
  std::transform(noise.begin(), noise.end(), pixels.begin(), [](float x) {
    return static_cast<uint8_t>(std::clamp(128 + 40 * x, 0.f, 255.f));
  });
  const auto begin = clock::now();
  const auto encoded = image::encode({px, 3, pixels}, {});
  if (!encoded)
    return encoded.why();
  return core::timespan{clock::now() - begin};
}

// Returns what is known of the variants of the measured device beforehand, and
// the instruction set with which a CPU is measured.
core::result<planning::profile> describe(const measurement& wanted,
                                         core::instruction_set in_use) {
  auto out = profile_of(wanted.settings);
  if (!out)
    return out;
  const auto& device = wanted.settings.devices.front();
  std::erase_if(out->variants, [&](const auto& v) {
    return std::find(device.variants.begin(), device.variants.end(), v.name)
        == device.variants.end();
  });
  if (device.name.starts_with("cpu"))
    out->measured_with = in_use;
  return out;
}

} // namespace

core::result<planning::profile> measure(
  const measurement& wanted,
  const std::function<bool(const std::string&, size_t, size_t)>& progress,
  const std::function<void(const std::string&)>& note) {
  const auto cancelled = core::fail(core::ec::cancelled, "interrupted");
  const auto instructions = use_instruction_set(wanted.settings);
  if (!instructions)
    return instructions.why();
  auto described = describe(wanted, **instructions);
  if (!described)
    return described.why();
  auto out = std::move(*described);
  const auto& device = wanted.settings.devices.front();
  const auto known = std::make_shared<const planning::profile>(out);
  // By model and element type.
  std::map<std::pair<std::string, core::dtype>, size_t> first;
  const auto batches = batches_of(wanted);
  size_t points = 0;
  for (size_t i = 0; i < out.variants.size(); ++i) {
    const auto& v = out.variants[i];
    if (first.try_emplace({v.model, v.precision}, i).second)
      points += sizes_for(wanted, v).size() * batches.size();
  }
  size_t done = 0;
  for (const auto& [key, i] : first) {
    auto& v = out.variants[i];
    if (!progress(v.name + ": loading", done, points))
      return cancelled;
    auto alone = device;
    alone.variants = {v.name};
    forget_peak();
    const auto before = status_bytes("VmRSS");
    measured_device on{wanted, known};
    const auto loaded = on.load(alone);
    if (!loaded)
      return loaded.why();
    v.load = *loaded;
    v.step.clear();
    // An estimate is no measurement.
    v.encode = core::timespan{0};
    std::vector<core::timespan> texts;
    std::vector<core::timespan> native_decodes;
    std::vector<core::timespan> other_decodes;
    const core::variant_id id{static_cast<uint32_t>(i)};
    for (const auto& px : sizes_for(wanted, v))
      for (const auto batch : batches) {
        const auto what = fmt::format("{}: {}x{}, batch {}", v.name, px.width,
                                      px.height, batch);
        if (!progress(what, done++, points))
          return cancelled;
        const auto got = on.run(id, batch, px);
        if (!got)
          return core::fail(got.why().code, "{}, {}x{}, batch {}: {}", v.name,
                            px.width, px.height, batch, got.why().text);
        v.step.push_back({batch, px.pixels(), got->step, wanted.steps});
        texts.push_back(got->text);
        auto& decodes = px == v.native_px ? native_decodes : other_decodes;
        for (const auto took : got->decodes)
          decodes.push_back(planning::at_native_size(v, px, took));
      }
    v.text = median(texts);
    // For the variant's own size, if that was measured.
    v.decode = median(native_decodes.empty() ? other_decodes : native_decodes);
    const auto sizes = sizes_for(wanted, v);
    const bool has_native =
      std::ranges::find(sizes, v.native_px) != sizes.end();
    const auto px = has_native ? v.native_px : sizes.front();
    if (const auto encoded = on.encode(id, px))
      v.encode = planning::at_native_size(v, px, *encoded);
    else if (!is_of_model(encoded.why()))
      return encoded.why();
    else
      note(fmt::format("{}, {}x{}, a source: {}; the time of encoding is not "
                       "measured",
                       v.name, px.width, px.height, encoded.why().text));
    // Except on the CPU, the size of the weights remains as the estimate.
    const auto peak = status_bytes("VmHWM");
    if (device.name.starts_with("cpu") && peak > before)
      v.memory_bytes = peak - before;
  }
  for (auto& v : out.variants) {
    const auto& from = out.variants[first.at({v.model, v.precision})];
    v.step = from.step;
    v.text = from.text;
    v.decode = from.decode;
    v.encode = from.encode;
    v.load = from.load;
    v.memory_bytes = from.memory_bytes;
  }
  const auto& v = out.variants.front();
  out.prepare = time_noise(v);
  const auto encoding = time_encoding(v.native_px);
  if (!encoding)
    return encoding.why();
  out.finish = *encoding;
  return out;
}

} // namespace atelier::runtime
