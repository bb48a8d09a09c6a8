// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/samplers/noise_schedule.hpp>
#include <atelier/training/caption.hpp>
#include <atelier/training/contact_sheet.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_figures.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/lanes.hpp>
#include <atelier/training/loops/sampler_run.hpp>
#include <atelier/training/quality/caption_score.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

namespace atelier::gpu {

namespace {

constexpr std::array<int64_t, 6> loss_timesteps{100, 400, 700, 800, 900, 970};
constexpr std::array<int64_t, 2> word_timesteps{800, 970};

// First stream of the drawn images' scenes. The scenes for losses have lower
// numbers.
constexpr uint64_t drawn_from = 1 << 20;

// Draws another value of an enumeration of `count` values.
template <class Value>
Value other_than(Value x, size_t count, core::philox& from) {
  return static_cast<Value>((static_cast<size_t>(x) + 1 + from.below(count - 1))
                            % count);
}

using change = void (*)(description&, core::philox&);

struct named_change {
  const char* name;
  change apply;
};

constexpr std::array<named_change, 6> changes{{
  {"colour",
   [](description& x, core::philox& from) {
     auto& colour = *x.objects[0].colour;
     colour = other_than(colour, colour_count, from);
   }},
  {"shape",
   [](description& x, core::philox& from) {
     x.objects[0].shape = other_than(x.objects[0].shape, shape_count, from);
   }},
  {"place",
   [](description& x, core::philox& from) {
     auto& place = *x.objects[0].place;
     place = other_than(place, place_count, from);
   }},
  {"size",
   [](description& x, core::philox& from) {
     auto& size = *x.objects[0].size;
     size = other_than(size, size_count, from);
   }},
  {"texture",
   [](description& x, core::philox& from) {
     auto& texture = *x.objects[0].texture;
     texture = other_than(texture, texture_count, from);
   }},
  {"background",
   [](description& x, core::philox& from) {
     auto& ground = *x.background;
     ground.from = other_than(ground.from, background_colour_count, from);
     ground.to =
       ground.grade == background_grade::plain ? ground.from : ground.to;
   }},
}};

class measurement {
public:
  measurement(const measured_denoiser& what, const denoiser_measurement& how)
    : what_(what),
      how_(how),
      shares_(family_signal_shares()),
      lanes_(how.threads) {}

  std::map<std::string, double> run() {
    measure_losses();
    for (uint32_t objects = 1; objects <= most_objects; ++objects)
      draw(objects);
    write_sheet();
    return std::move(figures_);
  }

private:
  // Runs `work` on the parts of 0..count in parallel.
  void side_by_side(size_t count,
                    const std::function<void(size_t, size_t)>& work) {
    lanes_.run([&](size_t i) {
      const torch::NoGradGuard guard;
      const auto parts = lanes_.count();
      work(count * i / parts, count * (i + 1) / parts);
    });
  }

  torch::Tensor ids_of(const std::vector<std::string>& captions) const {
    std::vector<int64_t> ids;
    for (const auto& x : captions) {
      const auto these = encode_caption(x, family_tokens).ids;
      ids.insert(ids.end(), these.begin(), these.end());
    }
    return torch::tensor(ids, torch::kInt64)
      .view({-1, int64_t{family_tokens}})
      .to(how_.device);
  }

  void measure_losses() {
    std::vector<scene> scenes;
    // The first row has the right captions. Each other row has them after one
    // of the changes.
    std::vector<std::vector<std::string>> captions(1 + changes.size());
    for (uint32_t i = 0; i < how_.losses; ++i) {
      auto from = data_stream(how_.seed, data_use::evaluation, i);
      scenes.push_back(draw_scene(from, {1, scene_split::held_out}));
      const auto right = describe_all(scenes.back());
      const auto words = from;
      auto spoken = words;
      captions[0].push_back(word(right, spoken));
      for (size_t k = 0; k < changes.size(); ++k) {
        auto wrong = right;
        changes[k].apply(wrong, from);
        spoken = words;
        captions[k + 1].push_back(word(wrong, spoken));
      }
    }
    const auto n = static_cast<int64_t>(how_.losses);
    auto latents = torch::empty({n, 4, family_latent_side, family_latent_side});
    auto noise = torch::empty_like(latents);
    for (int64_t i = 0; i < n; ++i) {
      auto from = data_stream(how_.seed, data_use::noise,
                              drawn_from + static_cast<uint64_t>(i));
      noise[i] = draw_noise(noise[i].sizes(), from);
    }
    side_by_side(how_.losses, [&](size_t begin, size_t end) {
      if (begin == end)
        return;
      const auto pixels =
        draw_scenes(std::span{scenes}.subspan(begin, end - begin), family_side);
      latents.slice(0, static_cast<int64_t>(begin), static_cast<int64_t>(end))
        .copy_(what_.encode(pixels.to(how_.device)));
    });
    const auto loss_of = [&](const std::vector<std::string>& said, int64_t t) {
      const auto ids = ids_of(said);
      std::vector<double> sums(how_.losses);
      side_by_side(how_.losses, [&](size_t begin, size_t end) {
        if (begin == end)
          return;
        const auto a = static_cast<int64_t>(begin);
        const auto b = static_cast<int64_t>(end);
        const auto share = shares_[t].item<double>();
        const auto x0 = latents.slice(0, a, b).to(how_.device);
        const auto eps = noise.slice(0, a, b).to(how_.device);
        const auto signal = std::sqrt(share);
        const auto blur = std::sqrt(1 - share);
        const auto out = what_.predict(
          x0 * signal + eps * blur,
          torch::full({b - a}, t,
                      torch::TensorOptions(torch::kInt64).device(how_.device)),
          what_.context(ids.slice(0, a, b)));
        sums[begin] = (out.to(torch::kFloat32) - (eps * signal - x0 * blur))
                        .square()
                        .mean({1, 2, 3})
                        .sum()
                        .item<double>();
      });
      double sum = 0;
      for (const auto x : sums)
        sum += x;
      return sum / how_.losses;
    };
    for (const auto t : loss_timesteps)
      figures_[fmt::format("loss_{}", t)] = loss_of(captions[0], t);
    for (const auto t : word_timesteps)
      for (size_t k = 0; k < changes.size(); ++k)
        figures_[fmt::format("word_{}_{}", changes[k].name, t)] =
          loss_of(captions[k + 1], t) / figures_[fmt::format("loss_{}", t)] - 1;
  }

  // Draws the images of captions from the noise `x`.
  torch::Tensor sample(const torch::Tensor& ids, torch::Tensor x) const {
    const auto plan =
      plan_sampler(family_scheduler(),
                   {.sampler = core::sampler::ddim, .steps = how_.steps});
    if (!plan)
      throw model_error{plan.why()};
    sampler_run run;
    run.plan = *plan;
    run.context = what_.context(ids);
    run.unsaid = what_.context(ids_of({""}));
    run.guidance = static_cast<float>(how_.guidance);
    x = run_sampler(what_.predict, x, run);
    return what_.decode(x);
  }

  void draw(uint32_t objects) {
    std::vector<caption> said;
    for (uint32_t i = 0; i < how_.drawn; ++i) {
      auto from =
        data_stream(how_.seed, data_use::evaluation, drawn_from * objects + i);
      const auto what = draw_scene(from, {objects, scene_split::held_out});
      said.push_back(draw_caption(what, from));
    }
    std::vector<image::bitmap> images(said.size());
    side_by_side(said.size(), [&](size_t begin, size_t end) {
      if (begin == end)
        return;
      std::vector<std::string> texts;
      std::vector<torch::Tensor> noise;
      for (auto i = begin; i < end; ++i) {
        texts.push_back(said[i].text);
        auto from = data_stream(how_.seed, data_use::noise,
                                drawn_from * (objects + 1) + i);
        noise.push_back(
          draw_noise({1, 4, family_latent_side, family_latent_side}, from));
      }
      const auto drawn =
        sample(ids_of(texts), torch::cat(noise).to(how_.device)).cpu();
      for (auto i = begin; i < end; ++i)
        images[i] = to_image(drawn[static_cast<int64_t>(i - begin)]);
    });
    caption_score sum;
    for (size_t i = 0; i < said.size(); ++i) {
      const auto score =
        score_image(check_image(images[i].view()), said[i].says);
      sum += score;
      cells_.push_back(
        {std::move(images[i]), fmt::format("{}/{} {}", score.objects.right,
                                           score.objects.said, said[i].text)});
    }
    const auto note = [&](const char* name, const score_count& x) {
      figures_[fmt::format("{}_{}", name, objects)] = x.share();
    };
    note("objects", sum.objects);
    note("main", sum.main);
    note("pictures", sum.images);
    note("shapes", sum.shapes);
    note("colours", sum.colours);
    note("places", sum.places);
    note("sizes", sum.sizes);
    note("textures", sum.textures);
    note("backgrounds", sum.backgrounds);
  }

  // A sheet that cannot be written is lost, and the training continues.
  void write_sheet() const {
    if (how_.sheet.empty())
      return;
    const auto sheet = contact_sheet(cells_, {8, 1, 5});
    const auto file = image::encode(sheet.view(), {});
    if (!file)
      return;
    std::ofstream out{how_.sheet, std::ios::binary};
    out.write(reinterpret_cast<const char*>(file->data()),
              static_cast<std::streamsize>(file->size()));
  }

  const measured_denoiser& what_;
  const denoiser_measurement& how_;
  torch::Tensor shares_;
  lanes lanes_;
  std::vector<sheet_cell> cells_;
  std::map<std::string, double> figures_;
};

} // namespace

scheduler_config family_scheduler() {
  const auto out =
    parse_scheduler(scheduler_config_text(), "scheduler_config.json");
  if (!out)
    throw model_error{out.why()};
  return *out;
}

torch::Tensor family_signal_shares() {
  const auto shares = alphas_cumprod(family_scheduler(), core::sampler::ddim);
  if (!shares)
    throw model_error{shares.why()};
  return torch::tensor(*shares, torch::kFloat64);
}

std::map<std::string, double> measure_denoiser(
  const measured_denoiser& what, const denoiser_measurement& how) {
  const torch::NoGradGuard guard;
  return measurement{what, how}.run();
}

} // namespace atelier::gpu
