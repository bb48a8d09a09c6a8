// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace atelier;
using core::ec;
using grade = gpu::model_finding::grade;

namespace {

constexpr auto unet_file = "unet/diffusion_pytorch_model.safetensors";

struct fixture : test::tiny_folder {
  gpu::model_check check(const std::string& name = {}) const {
    auto x = gpu::check_model(name.empty() ? path : path / name, options);
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
    return std::move(*x);
  }

  /// Returns the findings of a grade, without the folder's name.
  std::vector<std::string> told(grade how) const {
    std::vector<std::string> out;
    for (auto x : check().findings) {
      const auto folder = path.string();
      for (auto at = x.text.find(folder); at != std::string::npos;
           at = x.text.find(folder))
        x.text.replace(at, folder.size(), "M");
      if (x.severity == how)
        out.push_back(x.text);
    }
    return out;
  }

  std::vector<std::string> problems() const {
    return told(grade::problem);
  }

  gpu::check_options options;
};

using texts = std::vector<std::string>;

} // namespace

BOOST_FIXTURE_TEST_SUITE(model_check_test, fixture)

BOOST_AUTO_TEST_CASE(a_whole_model_is_sound) {
  options.scan = true;
  const auto x = check();
  BOOST_TEST(x.sound());
  BOOST_TEST(x.tensors
             == unet.names().size() + vae.names().size() + text.names().size());
  uint64_t parameters = 0;
  for (const auto* box : {&unet, &vae, &text})
    for (const auto& name : box->names())
      parameters += gpu::elements_of((*box)[name]);
  BOOST_TEST(x.parameters == parameters);
  BOOST_TEST(x.non_finite == 0u);
  BOOST_TEST(x.files.size() == 11u);
  BOOST_TEST((told(grade::note)
              == texts{"M: feature_extractor is not used",
                       "M: safety_checker is not used"}));
}

BOOST_AUTO_TEST_CASE(a_single_file_is_checked_without_a_vocabulary) {
  tiny_checkpoint(*this).write(path / "m.safetensors");
  const auto x = check("m.safetensors");
  BOOST_TEST(x.sound());
  BOOST_TEST(x.files.size() == 1u);
  BOOST_TEST(x.findings.size() == 1u);
  auto box = tiny_checkpoint(*this);
  box.remove("cond_stage_model.transformer.text_model.final_layer_norm.bias");
  box.write(path / "m.safetensors");
  BOOST_TEST(check("m.safetensors").findings.back().text
             == (path / "m.safetensors").string()
                  + ": tensor text_model.final_layer_norm.bias is missing");
}

BOOST_AUTO_TEST_CASE(every_fault_is_told_not_the_first_alone) {
  write(unet_file, "garbage, and more of it");
  write("vae/config.json", "{");
  remove("tokenizer");
  const auto x = problems();
  BOOST_TEST(x.size() == 2u);
  BOOST_TEST(x[0].starts_with(std::string{"M/"} + unet_file + ": the header"));
  BOOST_TEST(x[1] == "M/vae/config.json: not a JSON object");
  write_unet(unet);
  write("vae/config.json", test::tiny_vae_config());
  BOOST_TEST((problems() == texts{"M: tokenizer is missing"}));
}

BOOST_AUTO_TEST_CASE(tensors_are_compared_with_the_configuration) {
  auto other =
    test::tiny_tensors("UNet2DConditionModel", test::tiny_unet_config());
  other.remove("conv_in.bias");
  other.add("more", {1});
  other.remove("conv_out.bias");
  other.add("conv_out.bias", {5});
  write_unet(other);
  const auto start = std::string{"M/"} + unet_file + ": tensor ";
  BOOST_TEST((problems()
              == texts{start + "conv_out.bias has shape [5], not [4]",
                       start
                         + "more has no place in a UNet2DConditionModel of "
                           "that configuration",
                       start + "conv_in.bias is missing"}));
}

BOOST_AUTO_TEST_CASE(configurations_that_are_not_known_are_problems) {
  write("unet/config.json",
        test::tiny_unet_config(", \"class_embed_type\": \"projection\""));
  write("vae/config.json", test::tiny_vae_config(", \"wavelets\": 3"));
  write("text_encoder/config.json", R"({"hidden_act": "relu"})");
  write("scheduler/scheduler_config.json",
        R"({"_class_name": "DDIMScheduler", "beta_start": "low"})");
  const auto x = problems();
  BOOST_TEST_REQUIRE(x.size() == 4u);
  BOOST_TEST(x[0]
             == "M/unet/config.json: class_embed_type is \"projection\", not "
                "null");
  BOOST_TEST(x[1]
             == "M/vae/config.json: wavelets is 3, which is not supported");
  BOOST_TEST(x[2].starts_with(
    "M/text_encoder/config.json: hidden_act is \"relu\", not one of "));
  BOOST_TEST(x[3].starts_with("M/scheduler/scheduler_config.json: beta_start"));
}

BOOST_AUTO_TEST_CASE(a_vocabulary_that_does_not_fit_is_a_problem) {
  write("tokenizer/vocab.json", "{}");
  auto x = problems();
  BOOST_TEST_REQUIRE(x.size() == 1u);
  BOOST_TEST(x[0].starts_with("M/tokenizer/vocab.json: "));
  write("tokenizer/vocab.json",
        R"({"<|startoftext|>": 0, "<|endoftext|>": 50})");
  x = problems();
  BOOST_TEST_REQUIRE(x.size() == 1u);
  BOOST_TEST(x[0]
             == "M/tokenizer/vocab.json: ids up to 50, outside 0..49 "
                "(vocab_size of M/text_encoder/config.json)");
}

BOOST_AUTO_TEST_CASE(parts_and_their_index_are_compared) {
  remove(unet_file);
  test::tensor_box a;
  a.add("conv_in.bias", {32});
  a.add("both", {1});
  a.write(path / "unet/a.safetensors");
  test::tensor_box b;
  b.add("both", {1});
  b.write(path / "unet/b.safetensors");
  const std::string index =
    "unet/diffusion_pytorch_model.safetensors.index.json";
  write(index, R"({"metadata": {"total_size": 7}, "weight_map": {
    "conv_in.bias": "a.safetensors", "both": "b.safetensors",
    "gone": "b.safetensors", "lost": "c.safetensors"}})");
  const auto x = problems();
  const auto has = [&](const std::string& text_) {
    return std::find(x.begin(), x.end(), text_) != x.end();
  };
  BOOST_TEST(has("M/unet/c.safetensors: No such file or directory"));
  BOOST_TEST(has("M/" + index
                 + ": tensor both is in a.safetensors and in "
                   "b.safetensors"));
  BOOST_TEST(
    has("M/" + index + ": weight_map.gone: b.safetensors has no such tensor"));
  write(index, R"({"metadata": {"total_size": 7}, "weight_map": {
    "conv_in.bias": "a.safetensors", "both": "a.safetensors"}})");
  const auto notes = told(grade::note);
  BOOST_TEST((std::find(notes.begin(), notes.end(),
                        "M/" + index
                          + ": metadata.total_size: 7, but the parts hold 132 "
                            "bytes")
              != notes.end()));
}

BOOST_AUTO_TEST_CASE(a_scan_finds_numbers_that_are_none) {
  std::vector<float> values(32, 1.0f);
  values[3] = NAN;
  values[30] = -INFINITY;
  auto other =
    test::tiny_tensors("UNet2DConditionModel", test::tiny_unet_config());
  other.add("conv_in.bias", {32}, values);
  write_unet(other);
  BOOST_TEST(check().sound());
  options.scan = true;
  BOOST_TEST(check().non_finite == 2u);
  BOOST_TEST((problems()
              == texts{std::string{"M/"} + unet_file
                       + ": tensor conv_in.bias: 2 of 32 numbers are infinite "
                         "or NaN"}));
}

BOOST_AUTO_TEST_CASE(checksums_are_those_of_the_files) {
  options.checksums = true;
  for (const auto& x : check().files) {
    const auto name = std::filesystem::relative(x.path, path).string();
    BOOST_TEST(x.bytes == read(name).size());
    BOOST_TEST(x.sha256 == core::sha256_hex(read(name)), name);
  }
}

BOOST_AUTO_TEST_CASE(progress_goes_to_the_end_or_is_ended) {
  options.scan = true;
  options.checksums = true;
  uint64_t last = 0;
  uint64_t whole = 0;
  options.proceed = [&](uint64_t done, uint64_t all) {
    last = done;
    whole = all;
    return true;
  };
  check();
  BOOST_TEST(last == whole);
  options.proceed = [](uint64_t, uint64_t) { return false; };
  const auto x = gpu::check_model(path, options);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == ec::cancelled));
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_told) {
  const auto x = gpu::check_model(path / "none", options);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == ec::not_found));
  BOOST_TEST(!check("tokenizer").sound());
}

BOOST_AUTO_TEST_CASE(weights_that_are_not_used_are_noted) {
  vae.write(path / "vae/diffusion_pytorch_model.fp16.safetensors");
  write_at("vae/diffusion_pytorch_model.bin", "PK");
  write_at("safety_checker/model.safetensors", read(unet_file));
  const auto notes = told(grade::note);
  BOOST_TEST((notes
              == texts{"M: feature_extractor is not used",
                       "M: safety_checker is not used",
                       "M/vae/diffusion_pytorch_model.bin is not used",
                       "M/vae/diffusion_pytorch_model.fp16.safetensors is not "
                       "used"}));
}

BOOST_AUTO_TEST_CASE(faults_of_parts_that_are_not_used_are_notes) {
  const auto pointer =
    "version https://git-lfs.github.com/spec/v1\n" + std::string(80, 'x');
  for (const auto* folder : {"safety_checker", "other_tool"}) {
    write_at(std::string{folder} + "/model.safetensors", pointer);
    write_at(std::string{folder} + "/config.json", "[]");
  }
  BOOST_TEST(problems() == texts{}, boost::test_tools::per_element());
  BOOST_TEST(check().sound());
  const auto notes = told(grade::note);
  const auto has = [&](const std::string& note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  BOOST_TEST(has("M/safety_checker/config.json: not a JSON object (not used)"));
  BOOST_TEST(has("M/other_tool/model.safetensors: it is a Git LFS pointer: the "
                 "file itself was not fetched (not used)"));
  // The same faults of a used part are problems.
  write("vae/config.json", "[]");
  BOOST_TEST(!check().sound());
}

BOOST_AUTO_TEST_CASE(numbers_that_only_python_writes_are_read) {
  // save_pretrained of DPMSolverMultistepScheduler writes this number.
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "DPMSolverMultistepScheduler",
               "beta_start": 0.00085, "beta_end": 0.012,
               "lambda_min_clipped": -Infinity, "solver_order": 2})");
  BOOST_TEST(problems() == texts{}, boost::test_tools::per_element());
  const auto files = gpu::open_model(path, {});
  BOOST_REQUIRE_MESSAGE(files, (files ? "" : files.why().text));
  const auto facts = gpu::facts_of(*files);
  BOOST_REQUIRE_MESSAGE(facts, (facts ? "" : facts.why().text));
  BOOST_TEST((facts->schedule.sampler == core::sampler::dpmpp_2m));
  // Such a number is no value of another key, nor is it read inside of a text.
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "DDIMScheduler", "_by": "\"NaN, Infinity",
               "beta_start": NaN})");
  BOOST_TEST(problems()
               == texts{"M/scheduler/scheduler_config.json: beta_start is "
                        "\"NaN\"; supported: above 0, below 1"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
