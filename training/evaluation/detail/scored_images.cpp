// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/evaluation/detail/scored_images.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/quality/caption_score.hpp>

#include <cmath>

namespace atelier::gpu::detail {

core::result<std::shared_ptr<scorer_net>> load_scorer(
  const std::filesystem::path& folder, torch::Device where) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error))
    return std::shared_ptr<scorer_net>{};
  const auto file = safetensors_file::open(folder / "model.safetensors");
  if (!file)
    return file.why();
  return with_model_border("scorer", [&] {
    auto out = std::make_shared<scorer_net>(family_scorer());
    load_state(*out, **file);
    out->to(where);
    return out;
  });
}

torch::Tensor embed(scorer_net& scorer, const std::vector<std::string>& texts,
                    torch::Device where) {
  const torch::NoGradGuard guard;
  return scorer.embed_texts(caption_ids(texts).to(where)).cpu();
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

void scored_images::add(const torch::Tensor& images,
                        const std::vector<caption>& said) {
  const torch::NoGradGuard guard;
  std::vector<std::string> texts;
  for (size_t i = 0; i < said.size(); ++i) {
    const auto image = to_image(images[static_cast<int64_t>(i)]);
    const auto found = score_image(check_image(image.view()), said[i].says);
    objects_.push_back(found.objects.share());
    right_.push_back(found.objects.right);
    said_.push_back(found.objects.said);
    fully_.push_back(found.images.share());
    texts.push_back(said[i].text);
  }
  if (!scorer_)
    return;
  const auto pixels = images.clamp(-1, 1).to(where_);
  features_.push_back(scorer_->features(pixels).cpu());
  const auto products =
    (scorer_->embed_images(pixels).cpu() * embed(*scorer_, texts, where_))
      .sum(1);
  for (int64_t i = 0; i < products.size(0); ++i)
    scores_.push_back(products[i].item<double>());
}

image_quality scored_images::quality(size_t begin, size_t end) const {
  image_quality out;
  out.images = static_cast<uint32_t>(end - begin);
  double right = 0, said = 0, fully = 0, score = 0;
  for (auto i = begin; i < end; ++i) {
    right += right_[i];
    said += said_[i];
    fully += fully_[i];
    score += scores_.empty() ? 0 : scores_[i];
  }
  const auto n = static_cast<double>(end - begin);
  double mean = 0, squares = 0;
  for (auto i = begin; i < end; ++i) {
    mean += objects_[i] / n;
    squares += objects_[i] * objects_[i] / n;
  }
  if (n > 1)
    out.deviation =
      std::sqrt(std::max(0.0, squares - mean * mean) * n / (n - 1));
  out.objects = said > 0 ? right / said : 1;
  out.fully = n > 0 ? fully / n : 1;
  if (!scores_.empty() && n > 0)
    out.score = score / n;
  return out;
}

torch::Tensor scored_images::features() const {
  return features_.empty() ? torch::Tensor{} : torch::cat(features_);
}

} // namespace atelier::gpu::detail
