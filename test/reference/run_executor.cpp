// SPDX-License-Identifier: Apache-2.0
// run_executor MODEL SEED COUNT
//
// Runs COUNT groups of eight different requests on a device with LibTorch, with
// every sampler that the model can run with. Each request runs by itself,
// together with the others while some join late and one of another size waits,
// and interrupted at a step and resumed by a new device. Prints the
// differences, and the least similarity for each sampler. The exit status is 1
// if images that must be equal differ.
#include <atelier/core/torch_generator.hpp>
#include <atelier/gpu/device/torch_executor.hpp>
#include <atelier/gpu/kernels/host_features.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>

using namespace atelier;

namespace {

constexpr uint32_t rows_of_a_group = 8;
constexpr auto model_name = "model";

template <class T>
T taken(core::result<T> x) {
  if (!x) {
    fmt::print(stderr, "{}\n", core::to_string(x.why()));
    std::exit(2);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

/// Collects the reports of the device's thread.
class reports {
public:
  explicit reports(gpu::executor& device) {
    device.connect({[this](gpu::run_report x) {
                      const std::lock_guard guard{mutex_};
                      runs_.push_back(std::move(x));
                      changed_.notify_all();
                    },
                    [this](const gpu::decode_report& x) {
                      const std::lock_guard guard{mutex_};
                      decoded_.push_back(x);
                      changed_.notify_all();
                    }});
  }

  gpu::run_report next_run() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !runs_.empty(); });
    auto x = std::move(runs_.front());
    runs_.erase(runs_.begin());
    return x;
  }

  gpu::decode_report next_decoded() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !decoded_.empty(); });
    auto x = decoded_.front();
    decoded_.erase(decoded_.begin());
    return x;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<gpu::run_report> runs_;
  std::vector<gpu::decode_report> decoded_;
};

class bench {
public:
  explicit bench(const char* path) {
    const auto files = taken(gpu::open_model(path, {}));
    const auto facts = taken(gpu::facts_of(files));
    planning::variant_profile v;
    v.name = fmt::format("{}@1", model_name);
    v.model = model_name;
    v.steps = 1;
    v.native_px = facts.native_px;
    v.latent_channels = facts.latent_channels;
    v.latent_factor = facts.latent_factor;
    v.step = {{1, 1, core::timespan{1}}};
    planning::profile known;
    known.variants.push_back(v);
    known_ = std::make_shared<const planning::profile>(known);
    path_ = path;
    schedule_ = facts.schedule;
    renew();
  }

  const gpu::scheduler_config& schedule() const {
    return schedule_;
  }

  /// Slots are granted once, so new slots need a new store.
  void renew() {
    slots_ = std::make_shared<ipc::heap_store>(
      1, std::array<uint32_t, ipc::slot_kinds>{256, 128, 0},
      std::array<uint64_t, ipc::slot_kinds>{1 << 20, 1 << 20, 64});
    next_ = {};
  }

  std::shared_ptr<gpu::executor> device() const {
    gpu::torch_executor_config c;
    if (const char* device = std::getenv("ATELIER_TEST_DEVICE"))
      c.device = device;
    c.threads = 2;
    c.known = known_;
    c.variants = {known_->variants[0].name};
    c.models[model_name] = {path_, {}};
    return taken(gpu::make_torch_executor(c, slots_));
  }

  ipc::slot_ref grant(ipc::slot_kind kind) {
    ipc::slot_ref x;
    x.arena = 1;
    x.kind = kind;
    x.slot = next_[static_cast<size_t>(kind)]++;
    x.generation = 1;
    slots_->open(x);
    return x;
  }

  /// Returns a slot with an image, and perhaps a mask, that a seed determines.
  ipc::slot_ref source(const core::recipe& how, bool masked) {
    const auto x = grant(ipc::slot_kind::image);
    const auto into =
      taken(gpu::begin_source(taken(slots_->buffer(x)), how.px, masked));
    std::mt19937_64 random{how.seed};
    for (auto& byte : into.pixels)
      byte = static_cast<uint8_t>(random());
    for (size_t i = 0; i < into.mask.size(); ++i)
      into.mask[i] = i % how.px.width < how.px.width / 2 ? 255 : 0;
    taken(slots_->publish(x, 1, gpu::source_bytes(how.px, masked)));
    return x;
  }

  gpu::open_job job(uint64_t id, const core::recipe& how,
                    const core::prompt_pair& text, bool masked = false) {
    gpu::open_job x;
    x.ticket = {core::request_id{id}, 1};
    x.recipe = how;
    x.text = text;
    x.from = grant(ipc::slot_kind::state);
    x.state = grant(ipc::slot_kind::state);
    x.image = grant(ipc::slot_kind::image);
    if (how.from_image)
      x.source = source(how, masked);
    core::torch_generator noise{how.seed};
    const auto shape = planning::latent_of(known_->variants[0], how.px);
    // The autoencoder's sample of a source comes first.
    std::vector<float> sample(how.from_image ? shape.elements() : 0);
    noise.fill(sample);
    auto into = taken(slots_->buffer(x.from));
    const auto latent = taken(gpu::begin_state(into, shape, 0, 0));
    noise.fill(latent);
    taken(gpu::begin_state(into, shape, 0, noise.position()));
    taken(slots_->publish(x.from, 1, gpu::state_bytes(shape, 0)));
    return x;
  }

  std::vector<std::byte> image(const gpu::open_job& x) const {
    const auto bytes = taken(slots_->view(x.image));
    return {bytes.begin(), bytes.end()};
  }

  core::extent native() const {
    return known_->variants[0].native_px;
  }

private:
  std::string path_;
  gpu::scheduler_config schedule_;
  std::shared_ptr<const planning::profile> known_;
  std::shared_ptr<ipc::heap_store> slots_;
  std::array<uint32_t, ipc::slot_kinds> next_{};
};

struct wish {
  core::recipe how;
  core::prompt_pair text;
  bool masked = false;

  std::string name() const {
    return fmt::format("{}{}{}{}", core::to_string(how.sampler),
                       how.eta > 0 ? " with eta" : "",
                       how.karras ? " with karras" : "",
                       masked           ? ", masked"
                       : how.from_image ? ", from an image"
                                        : "");
  }
};

/// The options of the i-th request of a group: eight requests use every
/// sampler.
struct kind_of_run {
  core::sampler with;
  float eta = 0;
  bool karras = false;
};

kind_of_run kind_of(const gpu::scheduler_config& schedule, uint32_t i) {
  using enum core::sampler;
  constexpr kind_of_run all[rows_of_a_group] = {
    {ddim},     {ddim, 0.5f},        {euler}, {euler, 0, true},
    {dpmpp_2m}, {dpmpp_2m, 0, true}, {lcm},   {euler_ancestral}};
  if (schedule.predicts == gpu::prediction::flow)
    return {flow_match_euler, 0, i % 2 == 1};
  return all[i];
}

wish draw_wish(std::mt19937_64& random, core::extent native,
               const kind_of_run& kind) {
  const auto below = [&](uint64_t n) {
    return std::uniform_int_distribution<uint64_t>{0, n - 1}(random);
  };
  wish x;
  x.how.sampler = kind.with;
  x.how.eta = kind.eta;
  x.how.karras = kind.karras;
  x.how.steps = 4 + static_cast<uint32_t>(below(4));
  if (below(3) == 0) {
    x.how.from_image = true;
    x.how.strength = below(2) == 0 ? 0.75f : 1.f;
    x.masked = below(2) == 0;
  }
  x.how.guidance = below(3) == 0 ? 1.f : 3.f + static_cast<float>(below(5));
  x.how.guidance_rescale = below(4) == 0 ? 0.7f : 0.f;
  x.how.px = native;
  x.how.seed = random();
  x.text.positive = fmt::format("image number {}", below(5));
  x.text.negative = below(2) == 0 ? "" : "blurred";
  return x;
}

gpu::row_report row_of(const gpu::run_report& x, core::ticket who) {
  for (const auto& row : x.rows)
    if (row.ticket == who)
      return row;
  fmt::print(stderr, "a run left out request {}\n", who.id.value);
  std::exit(2);
}

void expect_sound(const gpu::row_report& x) {
  if (x.failure.code == core::ec::none)
    return;
  fmt::print(stderr, "request {}: {}\n", x.ticket.id.value,
             core::to_string(x.failure));
  std::exit(2);
}

/// Runs all rows until each has its image; row i joins after i / 3 runs.
void finish(gpu::executor& device, reports& from,
            const std::vector<gpu::open_job>& jobs) {
  std::vector<gpu::open_job> waiting{jobs};
  std::vector<gpu::open_job> running;
  for (uint32_t round = 0; !waiting.empty() || !running.empty(); ++round) {
    while (!waiting.empty() && running.size() < round + 3) {
      device.open(waiting.front());
      running.push_back(waiting.front());
      waiting.erase(waiting.begin());
    }
    gpu::run_job run;
    for (const auto& x : running)
      run.rows.push_back(x.ticket);
    device.run(run);
    const auto did = from.next_run();
    std::erase_if(running, [&](const gpu::open_job& x) {
      const auto row = row_of(did, x.ticket);
      expect_sound(row);
      if (row.steps_done < core::steps_to_run(x.recipe))
        return false;
      device.decode(x.ticket);
      const auto made = from.next_decoded();
      if (made.failure.code != core::ec::none) {
        fmt::print(stderr, "{}\n", core::to_string(made.failure));
        std::exit(2);
      }
      device.close(x.ticket);
      return true;
    });
  }
}

/// Returns dB, which is infinite if the images are equal.
double psnr(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto d = std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]);
    sum += d * d;
  }
  if (sum == 0)
    return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / sum);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  bench on{argv[1]};
  std::mt19937_64 random{std::strtoull(argv[2], nullptr, 10)};
  const auto groups = std::strtoul(argv[3], nullptr, 10);
  auto device = on.device();
  reports from{*device};
  std::map<std::string, double> worst;
  uint32_t compared = 0;
  uint32_t unequal = 0;
  uint64_t id = 0;
  for (unsigned long group = 0; group < groups; ++group) {
    on.renew();
    device = on.device();
    reports seen{*device};
    std::vector<wish> wishes;
    for (uint32_t i = 0; i < rows_of_a_group; ++i) {
      wishes.push_back(
        draw_wish(random, on.native(), kind_of(on.schedule(), i)));
      wishes.back().how.deterministic = (i + group) % 2 == 0;
    }
    // Each request runs by itself.
    std::vector<gpu::open_job> alone;
    for (const auto& x : wishes) {
      alone.push_back(on.job(++id, x.how, x.text, x.masked));
      finish(*device, seen, {alone.back()});
    }
    // All requests run together.
    auto waits = wishes.front();
    waits.how.px.width += 64;
    const auto waiting = on.job(++id, waits.how, waits.text, waits.masked);
    device->open(waiting);
    device->run({{waiting.ticket}, 1});
    expect_sound(row_of(seen.next_run(), waiting.ticket));
    std::vector<gpu::open_job> together;
    for (const auto& x : wishes)
      together.push_back(on.job(++id, x.how, x.text, x.masked));
    finish(*device, seen, together);
    device->close(waiting.ticket);
    // Each run is interrupted, and another device resumes it from the published
    // state.
    const auto other = on.device();
    reports other_seen{*other};
    for (uint32_t i = 0; i < rows_of_a_group; ++i) {
      const auto expected = on.image(alone[i]);
      const auto batched = psnr(expected, on.image(together[i]));
      const auto name = core::to_string(wishes[i].how.sampler);
      const auto least =
        worst.emplace(name, std::numeric_limits<double>::infinity()).first;
      least->second = std::min(least->second, batched);
      // The host's own kernels are batch-invariant.
      const auto exact =
        gpu::host::runs_kernels() || wishes[i].how.deterministic;
      auto first =
        on.job(++id, wishes[i].how, wishes[i].text, wishes[i].masked);
      const auto steps = 1
                       + static_cast<uint32_t>(
                           random() % (core::steps_to_run(wishes[i].how) - 1));
      device->open(first);
      device->run({{first.ticket}, steps});
      expect_sound(row_of(seen.next_run(), first.ticket));
      device->close(first.ticket);
      auto second = first;
      second.ticket.attempt = 2;
      second.from = first.state;
      second.state = on.grant(ipc::slot_kind::state);
      finish(*other, other_seen, {second});
      const auto resumed = psnr(expected, on.image(second));
      compared += 2;
      const auto bad =
        !std::isinf(resumed) || (exact ? !std::isinf(batched) : batched < 60);
      if (bad) {
        ++unequal;
        fmt::print("{} steps {} of {}, guidance {}, exact {}: "
                   "in a batch {:.1f} dB, resumed after {} steps {:.1f} dB\n",
                   wishes[i].name(), wishes[i].how.steps,
                   wishes[i].text.positive, wishes[i].how.guidance, exact,
                   batched, steps, resumed);
      }
    }
  }
  fmt::print("{} comparisons, {} rows differ; least PSNR in a batch:", compared,
             unequal);
  for (const auto& [name, least] : worst)
    fmt::print(" {} {:.1f}", name, least);
  fmt::print(" dB\n");
  return unequal == 0 ? 0 : 1;
}
