// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/gpu/captions/sample_captions.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/planning/reuse/measured_skips.hpp>
#include <atelier/runtime/detail/drawing_device.hpp>
#include <atelier/runtime/detail/image_quality.hpp>
#include <atelier/runtime/encoder_identity.hpp>
#include <atelier/runtime/measure_reuse.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

namespace atelier::runtime {

namespace {

using detail::drawing;
using detail::drawn_image;

/// A prompt that left its states.
struct stored_prompt {
  uint64_t seed = 0;
  /// In the order of the skips.
  std::vector<std::vector<std::byte>> states;
  /// Empty if images are not compared.
  std::vector<uint8_t> rgb;
};

/// The stored prompt that is nearest to another, and the time of the search.
struct nearest_prompt {
  std::optional<index::near_vector> found;
  core::timespan took{0};
};

/// The qualities of images of one prompt.
struct resumed_prompt {
  double similarity = 0;
  double full = 0;
  /// In the order of the skips.
  std::vector<double> resumed;
};

/// The quality of a stored image as that of another prompt.
struct answered_prompt {
  double similarity = 0;
  double full = 0;
  double quality = 0;
};

/// Steps to skip: by the profile's tables, and by the variant's own steps.
struct skip_pair {
  uint32_t of_table = 0;
  uint32_t steps = 0;
};

/// Returns the skips of the published table that differ for runs of `steps`.
std::vector<skip_pair> skips_of(uint32_t steps) {
  std::vector<skip_pair> out;
  for (const auto& x : planning::nirvana::published_table()) {
    const auto own = planning::scaled_to({x}, planning::table_steps, steps);
    if (!own.empty() && (out.empty() || out.back().steps != own.front().skip))
      out.push_back({x.skip, own.front().skip});
  }
  return out;
}

class reuse_run {
public:
  reuse_run(
    const reuse_measurement& wanted, core::variant_id variant,
    std::vector<skip_pair> skips,
    std::shared_ptr<const planning::profile> known,
    std::shared_ptr<const index::text_encoder> encoder,
    detail::image_quality quality,
    const std::function<bool(const std::string&, size_t, size_t)>& progress)
    : wanted_(wanted),
      name_(known->variants[variant.value].name),
      skips_(std::move(skips)),
      device_(wanted.settings, std::move(known), variant,
              static_cast<uint32_t>(skips_.size())),
      encoder_(std::move(encoder)),
      vectors_(encoder_->dimensions()),
      image_vectors_(encoder_->dimensions()),
      quality_(std::move(quality)),
      progress_(progress) {}

  core::result<void> load() {
    if (!progress_(name_ + ": loading", 0, total()))
      return core::fail(core::ec::cancelled, "interrupted");
    return device_.load();
  }

  /// Draws the prompts that leave states.
  core::result<void> store(std::span<const std::string> prompts) {
    core::philox seeds{wanted_.seed, core::purpose::noise};
    std::vector<uint32_t> captures;
    for (const auto& x : skips_)
      captures.push_back(x.steps);
    std::vector<drawing> all;
    for (const auto& prompt : prompts)
      all.push_back({prompt, seeds.next_u32(), nullptr, 0, captures});
    auto images = device_.draw(all, goes_on("states"));
    if (!images)
      return images.why();
    for (size_t i = 0; i < prompts.size(); ++i) {
      const auto vector = encode(prompts[i]);
      if (!vector)
        return vector.why();
      if (!vector->empty() && !vectors_.add({}, i, *vector))
        return core::fail(core::ec::overloaded,
                          "{} prompts are too many to compare", prompts.size());
      auto& image = (*images)[i];
      if (auto ok = store_image(i, image.rgb); !ok)
        return ok;
      stored_.push_back(
        {all[i].seed, std::move(image.states),
         wanted_.images ? std::move(image.rgb) : std::vector<uint8_t>{}});
    }
    done_ += prompts.size();
    return {};
  }

  /// Draws a prompt in full and from each state of the nearest stored one.
  core::result<void> resume(const std::string& prompt) {
    const auto near = nearest(prompt);
    if (!near)
      return near.why();
    searches_.push_back(near->took);
    ++done_;
    if (!near->found)
      return {};
    const auto& from = stored_[near->found->number];
    std::vector<drawing> all{{prompt, from.seed}};
    for (size_t i = 0; i < skips_.size(); ++i)
      all.push_back({prompt, from.seed, &from.states[i], skips_[i].steps});
    const auto images = device_.draw(all, goes_on("starts from states"));
    if (!images)
      return images.why();
    resumed_prompt out;
    out.similarity = near->found->similarity;
    const auto& full = images->front().rgb;
    if (!last_full_.empty()) {
      const auto chance = quality_.of(last_full_, full, device_.px(), prompt);
      if (!chance)
        return chance.why();
      by_chance_.push_back(*chance);
    }
    for (const auto& image : *images) {
      const auto quality = quality_.of(image.rgb, full, device_.px(), prompt);
      if (!quality)
        return quality.why();
      if (&image == &images->front())
        out.full = *quality;
      else
        out.resumed.push_back(*quality);
    }
    if (auto ok = answer(prompt, full, out.full); !ok)
      return ok;
    last_full_ = full;
    resumed_.push_back(std::move(out));
    return {};
  }

  /// Returns what was measured.
  core::result<planning::reuse_profile> result() const {
    if (resumed_.empty())
      return core::fail(core::ec::bad_config,
                        "none of {} prompts is like one of the {} before",
                        wanted_.resumed, wanted_.stored);
    planning::quality_levels means;
    for (const auto& x : resumed_)
      means.full += x.full / static_cast<double>(resumed_.size());
    for (const auto x : by_chance_)
      means.chance += x / static_cast<double>(by_chance_.size());
    if (!(means.full > means.chance))
      return core::fail(core::ec::bad_config,
                        "{}: by the {}, the mean quality of full runs is "
                        "{:.3f}, and {:.3f} if their prompts are exchanged: "
                        "what a start from earlier work keeps of it says "
                        "nothing",
                        name_, quality_.name, means.full, means.chance);
    std::vector<planning::skip_samples> all;
    for (size_t i = 0; i < skips_.size(); ++i) {
      auto& of = all.emplace_back();
      of.skip = skips_[i].of_table;
      for (const auto& x : resumed_)
        of.samples.push_back(
          {x.similarity, planning::kept_of(x.resumed[i], x.full, means)});
    }
    auto found = planning::thresholds_of(all, wanted_.alpha);
    planning::reuse_profile out;
    out.steps = planning::nirvana::reference_steps;
    out.latents = std::move(found.latents);
    auto searches = searches_;
    std::sort(searches.begin(), searches.end());
    out.retrieval = searches[searches.size() / 2];
    auto& evidence = out.measured.emplace();
    evidence.scorer = quality_.name;
    evidence.alpha = wanted_.alpha;
    evidence.stored = static_cast<uint32_t>(stored_.size());
    evidence.resumed = static_cast<uint32_t>(resumed_.size());
    evidence.skips = std::move(found.evidence);
    if (!answered_.empty())
      add_answers(means, out);
    return out;
  }

private:
  /// Makes a stored image searchable, if images are compared.
  core::result<void> store_image(size_t number, std::span<const uint8_t> rgb) {
    if (!wanted_.images)
      return {};
    const auto vector =
      wanted_.images->encode(std::as_bytes(rgb), device_.px());
    if (!vector)
      return vector.why();
    // Too many came while an index was being built.
    if (!image_vectors_.add({}, number, *vector))
      return core::fail(core::ec::overloaded,
                        "image {} came while others were being indexed",
                        number);
    return {};
  }

  /// Scores the image that is nearest to a prompt as its image.
  core::result<void> answer(const std::string& prompt,
                            std::span<const uint8_t> full,
                            double full_quality) {
    if (!wanted_.images)
      return {};
    const auto vector = encode(prompt);
    if (!vector)
      return vector.why();
    for (const auto& x : image_vectors_.near({}, *vector, 1)) {
      const auto quality =
        quality_.of(stored_[x.number].rgb, full, device_.px(), prompt);
      if (!quality)
        return quality.why();
      answered_.push_back({x.similarity, full_quality, *quality});
    }
    return {};
  }

  /// Adds what stored images are worth as answers.
  void add_answers(const planning::quality_levels& means,
                   planning::reuse_profile& into) const {
    planning::skip_samples whole;
    whole.skip = into.steps;
    for (const auto& x : answered_)
      whole.samples.push_back(
        {x.similarity, planning::kept_of(x.quality, x.full, means)});
    const auto found = planning::thresholds_of({&whole, 1}, wanted_.alpha);
    if (!found.latents.empty())
      into.answers_from = found.latents.front().similarity;
    const auto& evidence = found.evidence.front();
    into.measured->answers = {evidence.images, evidence.kept};
  }

  size_t total() const {
    return size_t{wanted_.stored} + wanted_.resumed;
  }

  std::function<bool()> goes_on(std::string_view work) const {
    return [this, work] {
      return progress_(fmt::format("{}: {}", name_, work), done_, total());
    };
  }

  /// Returns a prompt's vector; empty if it has nothing to compare.
  core::result<std::vector<float>> encode(const std::string& prompt) const {
    auto vector = encoder_->encode(prompt);
    if (!vector)
      return core::fail(vector.why().code, "'{}': {}", prompt,
                        vector.why().text);
    if (std::ranges::all_of(*vector, [](float x) { return x == 0; }))
      vector->clear();
    return vector;
  }

  core::result<nearest_prompt> nearest(const std::string& prompt) const {
    const auto begin = std::chrono::steady_clock::now();
    const auto vector = encode(prompt);
    if (!vector)
      return vector.why();
    nearest_prompt out;
    if (!vector->empty())
      for (const auto& x : vectors_.near({}, *vector, 1))
        out.found = x;
    out.took = std::chrono::steady_clock::now() - begin;
    return out;
  }

  const reuse_measurement& wanted_;
  const std::string name_;
  const std::vector<skip_pair> skips_;
  detail::drawing_device device_;
  const std::shared_ptr<const index::text_encoder> encoder_;
  index::nearest_by_key vectors_;
  index::nearest_by_key image_vectors_;
  const detail::image_quality quality_;
  const std::function<bool(const std::string&, size_t, size_t)>& progress_;
  std::vector<stored_prompt> stored_;
  std::vector<resumed_prompt> resumed_;
  std::vector<answered_prompt> answered_;
  /// The full run's image of the last prompt, and the qualities of such images
  /// as images of the next prompt.
  std::vector<uint8_t> last_full_;
  std::vector<double> by_chance_;
  std::vector<core::timespan> searches_;
  size_t done_ = 0;
};

/// Returns the first variant of the first device that has steps to skip.
core::result<core::variant_id> find_full(const config::settings& settings,
                                         const planning::profile& known) {
  const auto& device = settings.devices.front();
  for (const auto& name : device.variants)
    if (const auto id = planning::find_variant(known, name);
        id && !skips_of(known.variants[id->value].steps).empty())
      return *id;
  return core::fail(core::ec::bad_config,
                    "{}: none of its variants has steps to skip: at least 2 "
                    "steps are needed",
                    device.name);
}

core::result<gpu::sample_captions> prompts_of(const reuse_measurement& wanted,
                                              bool draws_scenes,
                                              const std::string& variant) {
  if (wanted.prompts.empty()) {
    if (draws_scenes)
      return gpu::draw_sample_captions(wanted.seed, wanted.stored,
                                       wanted.resumed);
    return core::fail(core::ec::bad_config,
                      "--prompts is missing: '{}' draws other texts than the "
                      "captions of Atelier's own models",
                      variant);
  }
  const size_t needed = size_t{wanted.stored} + wanted.resumed;
  if (wanted.prompts.size() < needed)
    return core::fail(core::ec::invalid_argument,
                      "--prompts: {} prompts are too few: {} are stored and {} "
                      "start from them",
                      wanted.prompts.size(), wanted.stored, wanted.resumed);
  gpu::sample_captions out;
  const auto second = wanted.prompts.begin() + wanted.stored;
  out.first.assign(wanted.prompts.begin(), second);
  out.second.assign(second, second + wanted.resumed);
  return out;
}

} // namespace

core::result<planning::reuse_profile> measure_reuse(
  const reuse_measurement& wanted, const planning::profile& measured,
  const std::function<bool(const std::string&, size_t, size_t)>& progress) {
  const auto described = know_variants(wanted.settings);
  if (!described)
    return described.why();
  const auto full = find_full(wanted.settings, described->costs);
  if (!full)
    return full.why();
  const auto& variant = described->costs.variants[full->value];
  const bool is_card = described->schedules[full->value] == nullptr;
  const bool draws_scenes =
    is_card
    || described->traits[full->value].captions == gpu::caption_kind::scenes;
  const auto prompts = prompts_of(wanted, draws_scenes, variant.name);
  if (!prompts)
    return prompts.why();
  const auto identity = encoder_identity_of(wanted.settings);
  if (!identity)
    return identity.why();
  auto quality = detail::quality_for(wanted.settings, draws_scenes && !is_card);
  if (!quality)
    return quality.why();
  const auto known =
    std::make_shared<const planning::profile>(described->costs);
  reuse_run run{wanted,  *full,          skips_of(variant.steps),
                known,   wanted.encoder, std::move(*quality),
                progress};
  if (auto ok = run.load(); !ok)
    return ok.why();
  if (auto ok = run.store(prompts->first); !ok)
    return ok.why();
  for (const auto& prompt : prompts->second)
    if (auto ok = run.resume(prompt); !ok)
      return ok.why();
  auto out = run.result();
  if (!out)
    return out;
  const auto place = planning::find_variant(measured, variant.name);
  ATELIER_EXPECTS(place, "a measured profile has the device's variants");
  out->full = *place;
  out->measured->encoder = identity->name;
  out->measured->encoder_revision = identity->revision;
  return out;
}

} // namespace atelier::runtime
