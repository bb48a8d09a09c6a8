// SPDX-License-Identifier: Apache-2.0
#include "../cli/scratch_folder.hpp"
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/training/loops/checkpoint.hpp>
#include <atelier/training/train.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(training)

namespace {

const training_listener go_on = [](const auto&, const auto&) { return true; };

training_config small_run(training_part part, const std::filesystem::path& in,
                          uint64_t steps) {
  training_config out;
  out.part = part;
  out.folder = in;
  out.steps = steps;
  out.threads = 2;
  out.report_seconds = 0;
  out.scale = training_scale::miniature;
  return out;
}

training_outcome done(const training_config& config,
                      const training_listener& told = go_on) {
  auto out = train(config, told);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return *out;
}

// Also returns the mean loss of the last ten steps, because the loss of one
// step depends on its batch.
std::pair<training_outcome, double> done_with_loss(
  const training_config& config) {
  std::vector<double> losses;
  const auto out =
    done(config, [&](const training_progress& at, const auto& figures) {
      if (figures.empty())
        losses.push_back(at.loss);
      return true;
    });
  BOOST_REQUIRE(losses.size() >= 10);
  return {out, std::accumulate(losses.end() - 10, losses.end(), 0.0) / 10};
}

// Compares all bytes of all tensors in both files.
bool same_tensors(const std::filesystem::path& a,
                  const std::filesystem::path& b) {
  const auto x = safetensors_file::open(a);
  const auto y = safetensors_file::open(b);
  BOOST_REQUIRE(x && y);
  const auto names = (*x)->names();
  if (names != (*y)->names() || names.empty())
    return false;
  return std::all_of(names.begin(), names.end(), [&](const auto& name) {
    const auto p = (*x)->find(name)->bytes;
    const auto q = (*y)->find(name)->bytes;
    return p.size() == q.size()
        && std::memcmp(p.data(), q.data(), p.size()) == 0;
  });
}

std::filesystem::path last_checkpoint(const std::filesystem::path& folder,
                                      training_part part) {
  const auto all = checkpoints_in(folder / std::string{to_string(part)});
  BOOST_REQUIRE(!all.empty());
  return all.front();
}

// Trains from the start without and with a pause, and compares the weights.
void continues_alike(training_config config) {
  config.restart = true;
  const auto whole = done(config);
  const auto kept = config.folder / "at-once.safetensors";
  std::filesystem::rename(whole.file, kept);
  config.checkpoint_minutes = 1e-9;
  const auto paused = done(config, [](const training_progress& at,
                                      const auto&) { return at.step < 2; });
  BOOST_TEST(!paused.finished);
  config.restart = false;
  config.resume = true;
  BOOST_TEST(same_tensors(kept, done(config).file));
}

} // namespace

BOOST_AUTO_TEST_CASE(a_short_training_lowers_the_loss_and_leaves_weights) {
  const test::scratch_folder folder;
  auto config = small_run(training_part::vae, folder.path, 60);
  const auto first = done(small_run(training_part::vae, folder.path, 1));
  config.restart = true;
  const auto [last, loss] = done_with_loss(config);
  BOOST_TEST_MESSAGE("loss " << first.last.loss << " -> " << loss);
  BOOST_TEST(loss < 0.9 * first.last.loss);
  BOOST_TEST(last.finished);
  BOOST_TEST(last.last.step == 60u);
  BOOST_TEST(last.figures.at("psnr") > first.figures.at("psnr"));
  BOOST_TEST(std::filesystem::exists(last.file));
  BOOST_TEST(std::filesystem::exists(folder.path / "vae" / "log.jsonl"));
}

BOOST_AUTO_TEST_CASE(a_continued_training_equals_one_without_a_pause) {
  const test::scratch_folder whole, halves;
  const auto one = done(small_run(training_part::vae, whole.path, 8));
  // The budget determines how fast the rate falls, so it must be the same.
  auto config = small_run(training_part::vae, halves.path, 8);
  config.checkpoint_minutes = 1e-9;
  config.data_threads = 3;
  uint64_t told = 0;
  const auto until_third = [&](const training_progress& at, const auto&) {
    ++told;
    return at.step < 3;
  };
  const auto paused = done(config, until_third);
  BOOST_TEST(!paused.finished);
  BOOST_TEST(paused.last.step < 8u);
  config.resume = true;
  const auto other = done(config);
  BOOST_TEST(other.finished);
  BOOST_TEST(other.last.samples == one.last.samples);
  BOOST_TEST(same_tensors(one.file, other.file));
  BOOST_TEST(same_tensors(last_checkpoint(whole.path, config.part),
                          last_checkpoint(halves.path, config.part)));
}

BOOST_AUTO_TEST_CASE(the_text_encoder_and_a_denoiser_learn_and_continue) {
  const test::scratch_folder folder;
  const auto early =
    train(small_run(training_part::base, folder.path, 1), go_on);
  BOOST_REQUIRE(!early);
  BOOST_CHECK(early.why().code == core::ec::not_found);
  BOOST_TEST(early.why().text.find("train vae first") != std::string::npos);

  done(small_run(training_part::vae, folder.path, 2));
  const auto first = done(small_run(training_part::text, folder.path, 1));
  auto config = small_run(training_part::text, folder.path, 20);
  config.restart = true;
  BOOST_TEST(done_with_loss(config).second < 0.9 * first.last.loss);

  const auto whole = done(small_run(training_part::base, folder.path, 6));
  BOOST_TEST(whole.figures.contains("word_colour_800"));
  BOOST_TEST(whole.figures.contains("objects_1"));
  const auto kept = folder.path / "base-at-once.safetensors";
  std::filesystem::rename(whole.file, kept);
  config = small_run(training_part::base, folder.path, 6);
  config.restart = true;
  config.checkpoint_minutes = 1e-9;
  config.data_threads = 2;
  const auto paused = done(config, [](const training_progress& at,
                                      const auto&) { return at.step < 2; });
  BOOST_TEST(!paused.finished);
  config.restart = false;
  config.resume = true;
  BOOST_TEST(same_tensors(kept, done(config).file));
}

BOOST_AUTO_TEST_CASE(the_few_step_denoiser_learns_from_base) {
  const test::scratch_folder folder;
  done(small_run(training_part::vae, folder.path, 2));
  done(small_run(training_part::text, folder.path, 1));
  const auto early =
    train(small_run(training_part::turbo, folder.path, 1), go_on);
  BOOST_REQUIRE(!early);
  BOOST_CHECK(early.why().code == core::ec::not_found);
  BOOST_TEST(early.why().text.find("train base first") != std::string::npos);

  // Untrained networks predict nothing.
  const auto base = done(small_run(training_part::base, folder.path, 40));
  const auto first = done(small_run(training_part::tiny, folder.path, 1));
  auto config = small_run(training_part::tiny, folder.path, 30);
  config.restart = true;
  BOOST_TEST(done_with_loss(config).second < 0.9 * first.last.loss);
  const auto turbo = done(small_run(training_part::turbo, folder.path, 2));
  BOOST_TEST(turbo.figures.contains("objects_1"));
  const auto a = safetensors_file::open(base.file);
  const auto b = safetensors_file::open(turbo.file);
  BOOST_REQUIRE(a && b);
  BOOST_TEST(((*a)->names() == (*b)->names()));
  BOOST_TEST(!same_tensors(base.file, turbo.file));
}

BOOST_AUTO_TEST_CASE(the_scorer_learns_and_continues) {
  const test::scratch_folder folder;
  const auto early =
    train(small_run(training_part::scorer, folder.path, 1), go_on);
  BOOST_REQUIRE(!early);
  BOOST_TEST(early.why().text.find("train text first") != std::string::npos);
  done(small_run(training_part::text, folder.path, 2));
  const auto first = done(small_run(training_part::scorer, folder.path, 1));
  auto config = small_run(training_part::scorer, folder.path, 200);
  config.restart = true;
  const auto later = done(config);
  BOOST_TEST_MESSAGE("sees backgrounds "
                     << first.figures.at("sees_background") << " -> "
                     << later.figures.at("sees_background"));
  BOOST_TEST(later.figures.at("sees_background")
             > first.figures.at("sees_background") + 0.04);
  BOOST_TEST(later.figures.contains("ranked_3"));
  BOOST_TEST(later.figures.contains("beats_shape"));
  // Networks that only help the training are only in checkpoints.
  const auto holds = [](const std::filesystem::path& file,
                        std::string_view what) {
    const auto names = (*safetensors_file::open(file))->names();
    return std::ranges::any_of(names, [&](const std::string& x) {
      return x.find(what) != std::string::npos;
    });
  };
  BOOST_TEST(!holds(later.file, "_answers"));
  BOOST_TEST(holds(later.file, "visual_projection.weight"));
  BOOST_TEST(holds(last_checkpoint(folder.path, config.part), "scene_answers"));
  continues_alike(small_run(training_part::scorer, folder.path, 5));
}

BOOST_AUTO_TEST_CASE(the_preview_learns_and_continues) {
  const test::scratch_folder folder;
  const auto early =
    train(small_run(training_part::preview, folder.path, 1), go_on);
  BOOST_REQUIRE(!early);
  BOOST_TEST(early.why().text.find("train vae first") != std::string::npos);
  done(small_run(training_part::vae, folder.path, 2));
  const auto first = done(small_run(training_part::preview, folder.path, 1));
  auto config = small_run(training_part::preview, folder.path, 200);
  config.restart = true;
  const auto later = done(config);
  BOOST_TEST(later.figures.at("psnr") > first.figures.at("psnr") + 1);
  BOOST_TEST(later.figures.at("code") < first.figures.at("code"));
  continues_alike(small_run(training_part::preview, folder.path, 5));
}

BOOST_AUTO_TEST_CASE(the_judges_learn_from_what_is_trained_and_continue) {
  const test::scratch_folder folder;
  done(small_run(training_part::vae, folder.path, 2));
  done(small_run(training_part::text, folder.path, 1));
  for (const auto part :
       {training_part::discriminator, training_part::classifier}) {
    const auto early = train(small_run(part, folder.path, 1), go_on);
    BOOST_REQUIRE(!early);
    BOOST_CHECK(early.why().code == core::ec::not_found);
    BOOST_TEST(early.why().text.find("no denoiser is trained")
               != std::string::npos);
  }
  // An untrained model is in no ladder.
  done(small_run(training_part::base, folder.path, 1));
  done(small_run(training_part::tiny, folder.path, 1));
  std::filesystem::remove_all(folder.path / "base");
  const auto blind =
    train(small_run(training_part::discriminator, folder.path, 1), go_on);
  BOOST_REQUIRE(!blind);
  BOOST_TEST(blind.why().text.find("train scorer first") != std::string::npos);
  const auto scorer = done(small_run(training_part::scorer, folder.path, 2));
  const auto judge =
    done(small_run(training_part::discriminator, folder.path, 5));
  BOOST_TEST(judge.figures.contains("correlation"));
  BOOST_TEST(judge.figures.contains("drawn_low"));
  // It contains the scorer's towers unchanged.
  const auto a = safetensors_file::open(scorer.file);
  const auto b = safetensors_file::open(judge.file);
  BOOST_REQUIRE(a && b);
  for (const auto& name : (*a)->names()) {
    const auto x = (*a)->find(name)->bytes;
    const auto y = (*b)->find("towers." + name);
    BOOST_REQUIRE(y.has_value());
    BOOST_TEST(std::ranges::equal(x, y->bytes));
  }
  BOOST_TEST((*b)->find("out.weight").has_value());
  continues_alike(small_run(training_part::discriminator, folder.path, 5));
  const auto reader =
    done(small_run(training_part::classifier, folder.path, 5));
  BOOST_TEST(reader.figures.contains("quality_tiny@20"));
  BOOST_TEST(!reader.figures.contains("quality_base@50"));
  BOOST_TEST(reader.figures.at("routed_cost") == 1);
  continues_alike(small_run(training_part::classifier, folder.path, 5));
}

BOOST_AUTO_TEST_CASE(seeds_give_different_weights) {
  const test::scratch_folder one, two;
  auto config = small_run(training_part::vae, one.path, 2);
  const auto a = done(config);
  config.folder = two.path;
  config.seed = 2;
  BOOST_TEST(!same_tensors(a.file, done(config).file));
}

BOOST_AUTO_TEST_CASE(checkpoints_are_not_lost_unasked) {
  const test::scratch_folder folder;
  const auto config = small_run(training_part::vae, folder.path, 2);
  done(config);
  const auto again = train(config, go_on);
  BOOST_REQUIRE(!again);
  BOOST_CHECK(again.why().code == core::ec::invalid_argument);
  auto other = config;
  other.resume = true;
  other.seed = 9;
  const auto mixed = train(other, go_on);
  BOOST_REQUIRE(!mixed);
  BOOST_TEST(mixed.why().text.find("seed") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_finished_training_has_nothing_left_to_do) {
  const test::scratch_folder folder;
  auto config = small_run(training_part::vae, folder.path, 2);
  const auto first = done(config);
  config.resume = true;
  const auto again = done(config);
  BOOST_TEST(again.finished);
  BOOST_TEST(again.last.step == first.last.step);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_named) {
  const test::scratch_folder folder;
  auto config = small_run(training_part::vae, folder.path, 1);
  config.device = "cuda:99";
  auto out = train(config, go_on);
  BOOST_REQUIRE(!out);
  BOOST_CHECK(out.why().code == core::ec::not_found);
  config.device = "abacus";
  out = train(config, go_on);
  BOOST_REQUIRE(!out);
  BOOST_CHECK(out.why().code == core::ec::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
