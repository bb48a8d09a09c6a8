// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/image_judge.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/contact_sheet.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/evaluation/detail/drawing_model.hpp>
#include <atelier/training/evaluation/detail/frechet.hpp>
#include <atelier/training/evaluation/detail/measured_cascade.hpp>
#include <atelier/training/evaluation/detail/measured_starts.hpp>
#include <atelier/training/evaluation/detail/scored_images.hpp>
#include <atelier/training/evaluation/run_names.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>

#include <algorithm>
#include <chrono>
#include <map>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;
using namespace detail;

// The name of the judge's folder, and of the judge in profiles.
constexpr auto judge_name = "discriminator";

constexpr uint32_t sheet_columns = 8;
constexpr uint32_t sheet_rows = 6;

// A caption of a held-out scene, with its image's number.
struct evaluated_caption {
  scene content;
  caption said;
  uint64_t number = 0;
};

class evaluator {
public:
  evaluator(const evaluation_plan& plan, const evaluation_listener& told,
            torch::Device where)
    : plan_(plan), told_(told), where_(where) {
    for (uint32_t objects = 1; objects <= most_objects; ++objects)
      for (uint32_t i = 0; i < plan.captions; ++i) {
        evaluated_caption x;
        x.number = (uint64_t{objects} << 32) + i;
        auto from = data_stream(plan.seed, data_use::evaluation, x.number);
        x.content = draw_scene(from, {objects, scene_split::held_out});
        x.said = draw_caption(x.content, from);
        captions_.push_back(std::move(x));
      }
    out_.plan = plan;
  }

  evaluation run() {
    auto scorer = load_scorer(plan_.models / "scorer", where_);
    if (!scorer)
      throw model_error{scorer.why()};
    scorer_ = *scorer;
    open_judge();
    // All models are opened before the first image is drawn.
    for (const auto& x : plan_.variants)
      check(x);
    count_work();
    look_at_renders();
    for (const auto& x : plan_.variants)
      measure(x);
    measure_cascades();
    if (plan_.starts > 0)
      measure_starts();
    return std::move(out_);
  }

private:
  const drawing_model& model(const std::string& name) {
    auto it = models_.find(name);
    if (it == models_.end()) {
      const auto begin = std::chrono::steady_clock::now();
      auto loaded = drawing_model::load(plan_.models / name, where_);
      if (!loaded)
        throw model_error{loaded.why()};
      loads_[name] = std::chrono::duration<double, std::milli>(
                       std::chrono::steady_clock::now() - begin)
                       .count();
      it = models_.emplace(name, std::move(*loaded)).first;
    }
    return it->second;
  }

  void check(const evaluated_variant& x) {
    for (const auto with : plan_.samplers)
      if (const auto planned = model(x.model).plan(x.steps, with); !planned)
        throw model_error{fail(planned.why().code, "{}@{}: {}", x.model,
                               x.steps, planned.why().text)};
  }

  void count_work() {
    const auto batches = (captions_.size() + plan_.batch - 1) / plan_.batch;
    for (const auto& x : plan_.variants)
      of_ += batches * guidances_of(plan_, x).size() * plan_.samplers.size();
    if (plan_.starts > 0)
      of_ += measured_starts_work(plan_);
  }

  void tell(const std::string& what) {
    if (!told_(what, done_++, of_))
      throw model_error{fail(ec::cancelled, "the evaluation was ended")};
  }

  void look_at_renders() {
    if (!scorer_)
      return;
    const torch::NoGradGuard guard;
    std::vector<torch::Tensor> rows;
    for (const auto& x : captions_)
      rows.push_back(
        scorer_->features(draw_scenes({&x.content, 1}, family_side).to(where_))
          .cpu());
    renders_ = torch::cat(rows);
  }

  void measure(const evaluated_variant& x) {
    for (const auto guidance : guidances_of(plan_, x))
      for (const auto with : plan_.samplers)
        measure(x, guidance, with);
  }

  void measure(const evaluated_variant& x, float guidance, core::sampler with) {
    const auto name = run_name(x, guidance, with);
    scored_images found{scorer_, where_};
    evaluated_run out;
    out.variant = x;
    out.guidance = guidance;
    out.sampler = with;
    std::vector<sheet_cell> cells;
    // Cascades use each variant with its first guidance and the first sampler.
    const auto judged = judge_ && guidance == guidances_of(plan_, x).front()
                     && with == plan_.samplers.front();
    detail::judged_images seen;
    for (size_t begin = 0; begin < captions_.size(); begin += plan_.batch) {
      tell(name);
      const auto end = std::min(begin + plan_.batch, captions_.size());
      drawn_batch batch;
      std::vector<caption> said;
      for (auto i = begin; i < end; ++i) {
        const auto& each = captions_[i];
        batch.prompts.push_back(each.said.text);
        batch.numbers.push_back(each.number);
        said.push_back(each.said);
      }
      batch.noise =
        draw_noise(model(x.model).latent_shape(), plan_.seed, batch.numbers);
      const auto images = model(x.model).decode(
        model(x.model).draw(batch, {x.steps, guidance, with}, out.took),
        out.took);
      found.add(images, said);
      add_cells(cells, begin, images, found);
      if (judged)
        judge(images, said, seen);
    }
    const auto n = static_cast<double>(captions_.size());
    out.took.text /= n;
    out.took.denoise /= n;
    out.took.decode /= n;
    out.load = loads_[x.model];
    out.weight_bytes = model(x.model).of().weight_bytes();
    for (uint32_t i = 0; i < most_objects; ++i)
      out.by_objects.push_back(
        found.quality(i * plan_.captions, (i + 1) * plan_.captions));
    out.all = found.quality(0, found.count());
    if (scorer_ && captions_.size() > 1) {
      out.distance = frechet_distance(found.features(), renders_);
      out.score_correlation = correlation(found.scores(), found.objects());
    }
    if (judged) {
      seen.objects = found.objects();
      if (scorer_)
        seen.features = found.features();
      seen.judging /= n;
      seen_.push_back(std::move(seen));
    }
    out_.runs.push_back(std::move(out));
    out_.sheets.push_back({name, contact_sheet(cells, {sheet_columns, 1, 5})});
  }

  void open_judge() {
    const auto folder = plan_.models / judge_name;
    std::error_code error;
    if (!std::filesystem::exists(folder, error))
      return;
    auto opened = image_judge::load(folder, where_);
    if (!opened)
      throw model_error{opened.why()};
    judge_ = std::move(*opened);
  }

  void judge(const torch::Tensor& images, const std::vector<caption>& said,
             detail::judged_images& into) const {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < said.size(); ++i)
      into.confidences.push_back(judge_->score(
        images[static_cast<int64_t>(i)].clamp(-1, 1).add(1).mul(127.5),
        said[i].text));
    into.judging += std::chrono::duration<double, std::milli>(
                      std::chrono::steady_clock::now() - begin)
                      .count();
  }

  // Measures a cascade for each variant whose model differs from the first's.
  void measure_cascades() {
    const auto& heavy = plan_.variants.front();
    for (size_t i = 1; i < seen_.size(); ++i) {
      const auto& light = plan_.variants[i];
      if (light.model == heavy.model)
        continue;
      evaluated_cascade out;
      out.light = light;
      out.heavy = heavy;
      out.judge = judge_name;
      out.judging = seen_[i].judging;
      out.correlation = correlation(seen_[i].confidences, seen_[i].objects);
      out.points =
        detail::measure_cascade(seen_[i], seen_.front(), renders_, plan_.seed);
      out_.cascades.push_back(std::move(out));
    }
  }

  // Adds the same number of images for each difficulty.
  void add_cells(std::vector<sheet_cell>& to, size_t begin,
                 const torch::Tensor& images,
                 const scored_images& found) const {
    constexpr auto of_each = sheet_columns * sheet_rows / most_objects;
    for (int64_t i = 0; i < images.size(0); ++i) {
      const auto at = begin + static_cast<size_t>(i);
      if (at % plan_.captions < of_each)
        to.push_back({to_image(images[i]),
                      fmt::format("{:.0f} % {}", 100 * found.objects()[at],
                                  captions_[at].said.text)});
    }
  }

  void measure_starts() {
    const auto& first = plan_.variants.front();
    auto found = detail::measure_starts(
      plan_, model(first.model), guidances_of(plan_, first).front(), scorer_,
      where_, [this](const std::string& what) { tell(what); });
    out_.start_steps = first.steps;
    out_.starts = std::move(found.starts);
    out_.trends = std::move(found.trends);
  }

  const evaluation_plan& plan_;
  const evaluation_listener& told_;
  torch::Device where_;
  std::vector<evaluated_caption> captions_;
  std::shared_ptr<scorer_net> scorer_;
  std::shared_ptr<const image_judge> judge_;
  /// One entry for each variant; empty without a judge.
  std::vector<detail::judged_images> seen_;
  std::map<std::string, drawing_model> models_;
  /// Load times in milliseconds, by model.
  std::map<std::string, double> loads_;
  torch::Tensor renders_;
  evaluation out_;
  size_t done_ = 0;
  size_t of_ = 0;
};

} // namespace

core::result<evaluation> evaluate(const evaluation_plan& plan,
                                  const evaluation_listener& told) {
  const auto where = device_named(plan.device);
  if (!where)
    return where.why();
  if (plan.threads > 0)
    at::set_num_threads(static_cast<int>(plan.threads));
  return with_model_border("evaluation", [&] {
    return evaluator{plan, told, *where}.run();
  });
}

} // namespace atelier::gpu
