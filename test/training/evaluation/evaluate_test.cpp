// SPDX-License-Identifier: Apache-2.0
#include "../../cli/scratch_folder.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/judge/discriminator_net.hpp>
#include <atelier/gpu/models/judge/image_judge.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/training/evaluation/detail/frechet.hpp>
#include <atelier/training/evaluation/detail/measured_cascade.hpp>
#include <atelier/training/evaluation/detail/scored_images.hpp>
#include <atelier/training/evaluation/evaluation.hpp>
#include <atelier/training/evaluation/run_names.hpp>
#include <atelier/training/export_model.hpp>
#include <atelier/training/export_run.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/checkpoint.hpp>
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/networks/unet_net.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <fstream>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(evaluations)

namespace {

namespace fs = std::filesystem;

void add(named_tensors& to, torch::nn::Module& network,
         const std::string& prefix = {}) {
  for (const auto& x : network.named_parameters())
    to.emplace_back(prefix + x.key(), x.value());
}

void write(const fs::path& run, const std::string& part,
           const named_tensors& what) {
  fs::create_directories(run / part);
  const auto ok = write_tensors(run / part / "weights.safetensors", what,
                                {{"part", part},
                                 {"seed", "7"},
                                 {"steps", "12"},
                                 {"samples", "384"},
                                 {"busy_seconds", "90"}});
  BOOST_REQUIRE_MESSAGE(ok, (ok ? "" : ok.why().text));
}

// Writes a run with untrained networks.
void write_run(const fs::path& run) {
  torch::manual_seed(3);
  autoencoder_net vae{family_autoencoder()};
  vae.draw(1);
  named_tensors tensors;
  add(tensors, vae);
  write(run, "vae", tensors);
  for (const auto member : {family_member::base, family_member::tiny}) {
    text_encoder_net text{family_text_encoder()};
    unet_net unet{family_unet(member)};
    tensors.clear();
    add(tensors, unet, "unet.");
    add(tensors, text, "text_encoder.");
    const std::string name{to_string(member)};
    write(run, name, tensors);
    if (member == family_member::base)
      write(run, "turbo", tensors);
  }
  scorer_net scorer{family_scorer()};
  tensors.clear();
  add(tensors, scorer);
  write(run, "scorer", tensors);
  discriminator_net judge{family_discriminator()};
  tensors.clear();
  add(tensors, judge);
  write(run, "discriminator", tensors);
  std::ofstream{run / "base" / "log.jsonl"}
    << "{\"step\":1,\"rate\":0.1,\"loss\":2}\n"
       "{\"step\":1,\"objects_1\":0.5,\"share\":1}\nnonsense\n";
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

BOOST_AUTO_TEST_CASE(a_run_becomes_models_that_can_be_measured) {
  const test::scratch_folder folder;
  const auto run = folder.path / "run";
  const auto models = folder.path / "models";
  auto written = export_run({run, models});
  BOOST_REQUIRE(!written);
  BOOST_CHECK(written.why().code == core::ec::not_found);
  BOOST_TEST(written.why().text.find("vae") != std::string::npos);

  write_run(run);
  written = export_run({run, models});
  BOOST_REQUIRE_MESSAGE(written, (written ? "" : written.why().text));
  BOOST_TEST(written->size() == 5u);
  for (const auto& x : *written) {
    const auto sums = check_sums(models / x.name);
    BOOST_TEST(bool(sums), (sums ? "" : sums.why().text));
    BOOST_TEST(x.bytes > 1'000'000u);
  }
  // All models share one autoencoder, and turbo uses base's text encoder.
  BOOST_TEST(fs::is_symlink(models / "tiny" / "vae"));
  BOOST_TEST(fs::is_symlink(models / "turbo" / "text_encoder"));
  BOOST_TEST(!fs::is_symlink(models / "tiny" / "text_encoder"));
  const auto card = text_of(models / "base" / "README.md");
  BOOST_TEST(card.find("objects_1 | 0.5") != std::string::npos);
  BOOST_TEST(card.find("Seed 7, 1.5 minutes") != std::string::npos);
  for (const auto* name : {"base", "tiny", "turbo"}) {
    const auto opened = open_model(models / name, {});
    BOOST_TEST(bool(opened), (opened ? "" : opened.why().text));
  }
  BOOST_CHECK(!export_run({run, models}));
  BOOST_CHECK(export_run({run, models, true}));

  evaluation_plan plan;
  plan.models = models;
  plan.variants = {{"tiny", 2}, {"turbo", 1}};
  plan.captions = 2;
  plan.starts = 1;
  plan.batch = 8;
  plan.threads = 1;
  size_t last = 0, of = 0;
  const auto found =
    evaluate(plan, [&](const std::string&, size_t done, size_t all) {
      last = done;
      of = all;
      return true;
    });
  BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.why().text));
  BOOST_TEST(last + 1 == of);
  BOOST_REQUIRE(found->runs.size() == 2u);
  BOOST_TEST(found->runs[0].guidance == 2);
  BOOST_TEST(found->runs[1].guidance == 1);
  BOOST_TEST(found->runs[0].all.images == 6u);
  BOOST_TEST(*found->runs[0].distance > 0);
  BOOST_TEST(found->runs[0].took.denoise > 0);
  std::vector<std::string> sheets;
  for (const auto& x : found->sheets)
    sheets.push_back(x.name);
  BOOST_TEST(sheets == run_names(plan), boost::test_tools::per_element());
  // Both kinds are present: one from noise, and five similarities at 1 of 2
  // steps.
  BOOST_TEST(found->start_steps == 2u);
  BOOST_TEST(found->starts.size() == 2u * (1 + 5));
  BOOST_TEST(found->trends.size() == 2u);
  BOOST_REQUIRE(found->cascades.size() == 1u);
  const auto& cascade = found->cascades.front();
  BOOST_TEST(cascade.light.model == "turbo");
  BOOST_TEST(cascade.heavy.model == "tiny");
  BOOST_TEST(cascade.judging > 0);
  // At 0 all images pass, at 1 none does.
  BOOST_TEST(cascade.points.front().deferred == 0);
  BOOST_TEST(cascade.points.back().deferred == 1);
  BOOST_TEST(cascade.points.back().distance.has_value());

  const auto judge = image_judge::load(models / "discriminator", torch::kCPU);
  BOOST_REQUIRE_MESSAGE(judge, (judge ? "" : judge.why().text));
  torch::manual_seed(2);
  const auto pixels = torch::rand({3, 128, 128}) * 255;
  const auto confidence = (*judge)->score(pixels, "a red circle");
  BOOST_TEST(confidence > 0);
  BOOST_TEST(confidence < 1);
  BOOST_TEST(confidence != (*judge)->score(pixels, "a blue star"));
  BOOST_TEST((*judge)->score(torch::rand({3, 64, 96}), "elephants") > 0);

  plan.variants = {{"tiny", 4}, {"nothing", 2}};
  const auto none = evaluate(plan, [](auto&&...) { return true; });
  BOOST_REQUIRE(!none);
  BOOST_CHECK(none.why().code == core::ec::not_found);
  plan.variants = {{"tiny", 4}};
  const auto ended = evaluate(plan, [](auto&&...) { return false; });
  BOOST_REQUIRE(!ended);
  BOOST_CHECK(ended.why().code == core::ec::cancelled);

  std::ofstream{models / "discriminator" / "config.json"} << "{}";
  const auto other = image_judge::load(models / "discriminator", torch::kCPU);
  BOOST_REQUIRE(!other);
  BOOST_CHECK(other.why().code == core::ec::bad_payload);
  const auto nobody = image_judge::load(models / "nobody", torch::kCPU);
  BOOST_REQUIRE(!nobody);
  BOOST_CHECK(nobody.why().code == core::ec::not_found);
}

BOOST_AUTO_TEST_CASE(a_cascade_takes_the_light_image_where_it_passes) {
  gpu::detail::judged_images light, heavy;
  light.objects = {1, 0, 0.5, 0};
  light.confidences = {0.9, 0.1, 0.5, 0.3};
  heavy.objects = {0.5, 1, 1, 1};
  const auto points = gpu::detail::measure_cascade(light, heavy, {}, 1);
  BOOST_TEST(points.front().threshold == 0);
  BOOST_TEST(points.back().threshold == 1);
  BOOST_TEST(points.front().objects == 0.375);
  BOOST_TEST(points.back().objects == 0.875);
  const auto at = [&](double threshold) {
    return *std::ranges::find_if(
      points, [&](const auto& p) { return p.threshold >= threshold - 1e-9; });
  };
  BOOST_TEST(at(0.4).deferred == 0.5);
  BOOST_TEST(at(0.4).objects == (1 + 1 + 0.5 + 1) / 4);
  // An image exactly at the threshold passes.
  BOOST_TEST(at(0.5).deferred == 0.5);
  BOOST_TEST(!points.front().distance);
  // The value is a share of any number of images.
  light.objects.assign(18, 1);
  light.confidences.assign(18, 0.5);
  heavy.objects.assign(18, 0);
  BOOST_TEST(gpu::detail::measure_cascade(light, heavy, {}, 1).back().deferred
             == 1);
  for (size_t i = 1; i < points.size(); ++i)
    BOOST_TEST(points[i].deferred >= points[i - 1].deferred);
}

BOOST_AUTO_TEST_CASE(distances_of_a_cascade_have_an_error) {
  torch::manual_seed(6);
  constexpr int64_t n = 200;
  const auto renders = torch::randn({n, 4}, torch::kFloat64);
  gpu::detail::judged_images light, heavy;
  for (int64_t i = 0; i < n; ++i) {
    light.objects.push_back(0);
    heavy.objects.push_back(1);
    light.confidences.push_back(static_cast<double>(i) / n);
  }
  heavy.features = renders + 0.1 * torch::randn({n, 4}, torch::kFloat64);
  light.features = renders + 1.5;
  const auto points = gpu::detail::measure_cascade(light, heavy, renders, 3);
  // The heavy variant by itself has no difference from itself.
  BOOST_TEST(points.back().deferred == 1);
  BOOST_TEST(*points.back().distance_error == 0);
  const auto& alone = points.front();
  BOOST_TEST(*alone.distance_error > 0);
  // The distance is 9 larger, which exceeds every doubt.
  BOOST_TEST(*alone.distance - *points.back().distance
             > 20 * *alone.distance_error);
  const auto again = gpu::detail::measure_cascade(light, heavy, renders, 3);
  BOOST_TEST(*again.front().distance_error == *alone.distance_error);
  // If both draw alike, no difference exceeds chance.
  light.features = renders + 0.1 * torch::randn({n, 4}, torch::kFloat64);
  const auto alike = gpu::detail::measure_cascade(light, heavy, renders, 3);
  BOOST_TEST(std::abs(*alike.front().distance - *alike.back().distance)
             < 4 * *alike.front().distance_error);
}

BOOST_AUTO_TEST_CASE(the_distance_is_that_of_normal_distributions) {
  torch::manual_seed(5);
  const auto x = torch::randn({4000, 3}, torch::kFloat64);
  BOOST_TEST(std::abs(gpu::detail::frechet_distance(x, x)) < 1e-9);
  // The points are moved by 2 along one axis, and three times as wide: 4 + 3 (3
  // - 1)^2.
  const auto moved = x * 3 + torch::tensor({2.0, 0.0, 0.0});
  const auto expected =
    (x.mean(0) * 2 + torch::tensor({2.0, 0.0, 0.0})).square().sum()
    + 4 * x.var(0, true).sum();
  BOOST_TEST(gpu::detail::frechet_distance(x, moved) == expected.item<double>(),
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(gpu::detail::correlation({1, 2, 3}, {2, 4, 6}) == 1,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(gpu::detail::correlation({1, 2, 3}, {1, 1, 1}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
