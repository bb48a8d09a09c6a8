// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/evaluation/detail/measured_starts.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace atelier::gpu::detail {

namespace {

// Numbers of values that differ in the other prompt; empty for another scene.
constexpr std::array<std::optional<uint32_t>, 5> likeness{0, 1, 2, 4,
                                                          std::nullopt};

// Shares of the steps, as in Argus' levels of 5..25 of 50 steps.
constexpr std::array<double, 5> skipped_shares{0.1, 0.2, 0.3, 0.4, 0.5};

std::vector<uint32_t> skipped_of(uint32_t steps) {
  std::set<uint32_t> out;
  for (const auto x : skipped_shares)
    out.insert(static_cast<uint32_t>(std::lround(x * steps)));
  out.erase(0);
  return {out.begin(), out.end()};
}

struct wanted_image {
  scene content;
  description says;
  caption said;
  uint64_t number = 0;
};

wanted_image draw_wanted(uint64_t seed, uint64_t number) {
  wanted_image out;
  out.number = (uint64_t{5} << 32) + number;
  auto from = data_stream(seed, data_use::evaluation, out.number);
  const auto objects = 1 + static_cast<uint32_t>(number % most_objects);
  out.content = draw_scene(from, {objects, scene_split::held_out});
  out.said = draw_caption(out.content, from);
  return out;
}

// Returns the text of a prompt that is like that of `x`, or of another scene if
// `changes` is empty.
std::string alike(const wanted_image& x, std::optional<uint32_t> changes,
                  uint64_t seed, uint64_t which) {
  auto from = data_stream(seed, data_use::evaluation,
                          (uint64_t{6 + which} << 32) + x.number % (1 << 30));
  return changes ? word(change_description(x.said.says, *changes, from), from)
                 : draw_caption(draw_scene(from), from).text;
}

// Measurements of one kind of start with one number of skipped steps.
struct pairs {
  std::vector<double> similarity;
  std::vector<double> objects;
};

/// The kind of a start, the steps that it leaves out, and the index of its
/// likeness.
using start_key = std::tuple<start_kind, uint32_t, size_t>;

starts_found summary_of(
  const std::map<start_key, scored_images>& found,
  const std::map<start_key, std::vector<double>>& similarities,
  const scored_images& from_noise, const std::vector<uint32_t>& skipped,
  bool scored) {
  starts_found out;
  for (const auto kind : {start_kind::latent, start_kind::image}) {
    evaluated_start base;
    base.from = kind;
    base.changes = 0;
    base.similarity = 1;
    base.quality = from_noise.quality(0, from_noise.count());
    out.starts.push_back(base);
    for (const auto left_out : skipped) {
      pairs all;
      for (size_t like = 0; like < likeness.size(); ++like) {
        const start_key at{kind, left_out, like};
        const auto& images = found.at(at);
        const auto compared = similarities.find(at);
        const auto near = compared == similarities.end() ? std::vector<double>{}
                                                         : compared->second;
        evaluated_start x;
        x.from = kind;
        x.skipped = left_out;
        x.changes = likeness[like];
        for (const auto s : near)
          x.similarity += s / static_cast<double>(near.size());
        x.quality = images.quality(0, images.count());
        out.starts.push_back(x);
        all.similarity.insert(all.similarity.end(), near.begin(), near.end());
        all.objects.insert(all.objects.end(), images.objects().begin(),
                           images.objects().end());
      }
      if (scored)
        out.trends.push_back(
          {kind, left_out, correlation(all.similarity, all.objects)});
    }
  }
  return out;
}

} // namespace

size_t measured_starts_work(const evaluation_plan& plan) {
  const auto batches = (plan.starts + plan.batch - 1) / plan.batch;
  return batches * (1 + likeness.size());
}

starts_found measure_starts(
  const evaluation_plan& plan, const drawing_model& model, float guidance,
  const std::shared_ptr<scorer_net>& scorer, torch::Device where,
  const std::function<void(const std::string&)>& told) {
  const auto steps = plan.variants.front().steps;
  const auto skipped = skipped_of(steps);
  const auto planned = model.plan(steps, core::sampler::ddim);
  if (!planned)
    throw model_error{planned.why()};
  std::map<start_key, scored_images> found;
  std::map<start_key, std::vector<double>> similarities;
  scored_images from_noise{scorer, where};
  image_times ignored;
  const auto decoded = [&](const torch::Tensor& latents) {
    return model.decode(latents, ignored);
  };
  for (uint32_t begin = 0; begin < plan.starts; begin += plan.batch) {
    const auto end = std::min(begin + plan.batch, plan.starts);
    std::vector<wanted_image> wanted;
    std::vector<caption> said;
    drawn_batch own;
    for (auto i = begin; i < end; ++i) {
      wanted.push_back(draw_wanted(plan.seed, i));
      const auto& x = wanted.back();
      said.push_back(x.said);
      own.prompts.push_back(x.said.text);
      own.numbers.push_back(x.number);
    }
    own.noise = draw_noise(model.latent_shape(), plan.seed, own.numbers);
    told("starts: from noise");
    from_noise.add(decoded(model.draw(own, {steps, guidance}, ignored)), said);
    for (size_t like = 0; like < likeness.size(); ++like) {
      told(likeness[like] ? fmt::format("starts: {} changes", *likeness[like])
                          : std::string{"starts: another scene"});
      auto other = own;
      for (size_t i = 0; i < wanted.size(); ++i)
        other.prompts[i] = alike(wanted[i], likeness[like], plan.seed, like);
      // The other image is drawn from noise of its own.
      auto streams = own.numbers;
      for (auto& x : streams)
        x += uint64_t{6 + like} << 32;
      other.noise = draw_noise(model.latent_shape(), plan.seed, streams);
      std::map<uint32_t, torch::Tensor> kept;
      const auto last =
        model.draw(other,
                   {steps, guidance, core::sampler::ddim, 0,
                    [&](size_t step, const torch::Tensor& x) {
                      const auto taken = static_cast<uint32_t>(step + 1);
                      if (std::ranges::find(skipped, taken) != skipped.end())
                        kept[taken] = x.cpu();
                    }},
                   ignored);
      torch::Tensor by_text, by_image;
      if (scorer) {
        const torch::NoGradGuard guard;
        const auto to = embed(*scorer, own.prompts, where);
        by_text = (to * embed(*scorer, other.prompts, where)).sum(1);
        by_image =
          (to
           * scorer->embed_images(decoded(last).clamp(-1, 1).to(where)).cpu())
            .sum(1);
      }
      for (const auto left_out : skipped)
        for (const auto kind : {start_kind::latent, start_kind::image}) {
          const auto& rule = planned->steps[left_out - 1];
          auto again = own;
          again.noise =
            kind == start_kind::latent
              ? kept.at(left_out)
              : last.cpu() * rule.keep_clean + own.noise * rule.keep_noise;
          const auto images = decoded(model.draw(
            again, {steps, guidance, core::sampler::ddim, left_out}, ignored));
          const start_key at{kind, left_out, like};
          found.try_emplace(at, scorer, where).first->second.add(images, said);
          const auto& near = kind == start_kind::latent ? by_text : by_image;
          for (size_t i = 0; scorer && i < wanted.size(); ++i)
            similarities[at].push_back(
              near[static_cast<int64_t>(i)].item<double>());
        }
    }
  }
  return summary_of(found, similarities, from_noise, skipped,
                    static_cast<bool>(scorer));
}

} // namespace atelier::gpu::detail
