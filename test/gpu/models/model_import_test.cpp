// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/catalog/model_import.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/float_types.hpp>
#include <atelier/gpu/models/unet/unet_family.hpp>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace atelier;
using core::ec;
using gpu::tensor_type;

namespace {

struct fixture : test::tiny_folder {
  fixture() {
    options.open.vocabulary = path / "tokenizer";
  }

  core::result<void> import(const std::filesystem::path& from) const {
    return gpu::import_model(from, to, options);
  }

  void must(const core::result<void>& x) const {
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
  }

  gpu::model_files imported() const {
    auto x = gpu::open_model(to, {});
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
    return std::move(*x);
  }

  static void check_same(const gpu::tensor_source& ours,
                         const test::tensor_box& expected, tensor_type type) {
    BOOST_TEST((ours.names() == expected.names()));
    for (const auto& name : expected.names()) {
      const auto x = *ours.find(name);
      std::vector<std::byte> wanted(gpu::elements_of(expected[name])
                                    * gpu::bytes_of(type));
      gpu::detail::convert(expected[name].type, expected[name].bytes, type,
                           wanted);
      BOOST_TEST((x.type == type), name);
      BOOST_TEST(std::equal(wanted.begin(), wanted.end(), x.bytes.begin(),
                            x.bytes.end()),
                 name);
    }
  }

  test::scratch_folder store;
  std::filesystem::path to = store.path / "deep" / "name";
  gpu::import_options options;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(model_import_test, fixture)

BOOST_AUTO_TEST_CASE(a_folder_and_a_file_of_the_same_model_become_the_same) {
  must(import(path));
  const auto from_folder = imported();
  check_same(*from_folder.denoiser.weights, unet, tensor_type::float32);
  tiny_checkpoint(*this).write(path / "m.safetensors");
  to = store.path / "second";
  must(import(path / "m.safetensors"));
  const auto from_file = imported();
  check_same(*from_file.denoiser.weights, unet, tensor_type::float32);
  check_same(*from_file.vae.weights, vae, tensor_type::float32);
  check_same(*from_file.text_encoder->weights, text, tensor_type::float32);
  BOOST_TEST((from_file.pipeline == from_folder.pipeline));
  BOOST_TEST(from_file.tokenizer->config.find("<|endoftext|>")
             != std::string::npos);
  BOOST_TEST(from_folder.scheduler.find("DDIMScheduler") != std::string::npos);
  BOOST_TEST((store.names() == std::set<std::string>{"deep", "second"}));
}

BOOST_AUTO_TEST_CASE(added_tokens_come_along) {
  const std::string added = R"({"a cat": 3})";
  write_at("tokenizer/added_tokens.json", added);
  must(import(path));
  std::ifstream from{to / "tokenizer/added_tokens.json"};
  BOOST_TEST((std::string{std::istreambuf_iterator<char>{from}, {}} == added));
}

BOOST_AUTO_TEST_CASE(numbers_are_written_in_the_wanted_type) {
  for (const auto type : {tensor_type::float16, tensor_type::bfloat16}) {
    options.as = type;
    options.replace = true;
    must(import(path));
    check_same(*imported().denoiser.weights, unet, type);
    check_same(*imported().text_encoder->weights, text, type);
  }
}

BOOST_AUTO_TEST_CASE(every_kind_is_written_as_its_own_pipeline) {
  const auto index = [&] {
    return nlohmann::json::parse(std::ifstream{to / "model_index.json"});
  };
  must(import(path));
  BOOST_TEST(index()["_class_name"] == "StableDiffusionPipeline");
  BOOST_TEST(index()["safety_checker"] == nlohmann::json({nullptr, nullptr}));
  for (const auto* part : {"text_encoder", "tokenizer"})
    std::filesystem::rename(path / part, path / (std::string{part} + "_2"));
  write("model_index.json",
        R"({"_class_name": "StableDiffusionXLImg2ImgPipeline",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
    "text_encoder_2": ["transformers", "CLIPTextModel"],
    "tokenizer_2": ["transformers", "CLIPTokenizer"],
    "scheduler": ["diffusers", "DDIMScheduler"],
    "force_zeros_for_empty_prompt": false,
    "requires_aesthetics_score": true})");
  options.replace = true;
  options.open.vocabulary.clear();
  must(import(path));
  const auto x = imported();
  BOOST_TEST((x.pipeline == &gpu::stable_diffusion_xl_refiner));
  BOOST_TEST(gpu::setting_of(x, gpu::aesthetic_score_setting));
  BOOST_TEST(!gpu::setting_of(x, gpu::zeros_for_empty_setting));
  BOOST_TEST(index()["tokenizer"] == nlohmann::json({nullptr, nullptr}));
  BOOST_TEST(!index().contains("safety_checker"));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_taken_is_kept_unless_it_may_be_replaced) {
  must(import(path));
  const auto again = import(path);
  BOOST_TEST_REQUIRE(!again);
  BOOST_TEST((again.why().code == ec::invalid_argument));
  BOOST_TEST(again.why().text == to.string() + " exists already");
  options.replace = true;
  std::ofstream{to / "mark"} << "old";
  must(import(path));
  BOOST_TEST(!std::filesystem::exists(to / "mark"));
  // A model may be rewritten from itself.
  options.as = tensor_type::float16;
  options.open.vocabulary.clear();
  must(import(to));
  check_same(*imported().vae.weights, vae, tensor_type::float16);
  BOOST_TEST(
    std::distance(std::filesystem::directory_iterator{to.parent_path()}, {})
    == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_model_is_never_replaced) {
  std::filesystem::create_directories(to);
  std::ofstream{to / "letter"} << "dear";
  options.replace = true;
  const auto x = import(path);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == ec::invalid_argument));
  BOOST_TEST(std::filesystem::exists(to / "letter"));
}

BOOST_AUTO_TEST_CASE(a_fault_is_told_before_anything_is_written) {
  const auto refused = [&](ec code) {
    const auto x = import(path);
    BOOST_TEST_REQUIRE(!x);
    BOOST_TEST((x.why().code == code), x.why().text);
    BOOST_TEST(store.names().empty());
    return x.why().text;
  };
  const auto weights =
    (path / "unet/diffusion_pytorch_model.safetensors").string();
  const auto config = test::tiny_unet_config();
  auto other = test::tiny_tensors("UNet2DConditionModel", config);
  other.remove("conv_in.bias");
  write_unet(other);
  BOOST_TEST(refused(ec::bad_payload)
             == weights + ": tensor conv_in.bias is missing");
  other.add("conv_in.bias", {33});
  write_unet(other);
  BOOST_TEST(refused(ec::bad_payload)
             == weights + ": tensor conv_in.bias has shape [33], not [32]");
  other.remove("conv_in.bias");
  other.add("conv_in.bias", {32}, tensor_type::int8);
  other.add("more", {1});
  write_unet(other);
  BOOST_TEST(refused(ec::bad_payload)
             == weights
                  + ": tensor conv_in.bias is of type I8, not floating-point "
                    "(and 1 more faults)");
  write_unet(unet);
  remove("text_encoder");
  BOOST_TEST(refused(ec::not_found).ends_with(": text_encoder missing"));
  options.as = tensor_type::int8;
  BOOST_TEST(refused(ec::invalid_argument)
             == "I8 is not a floating-point type");
}

BOOST_AUTO_TEST_CASE(numbers_beyond_the_type_are_refused_and_leave_nothing) {
  std::vector<float> values(32, 1.0f);
  values[5] = 1e6f;
  auto other =
    test::tiny_tensors("UNet2DConditionModel", test::tiny_unet_config());
  other.add("conv_in.bias", {32}, values);
  write_unet(other);
  options.as = tensor_type::float16;
  const auto x = import(path);
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST((x.why().code == ec::invalid_argument));
  BOOST_TEST(x.why().text.ends_with(
    "tensor conv_in.bias: it holds numbers outside the range of F16"));
  BOOST_TEST(!std::filesystem::exists(to));
  BOOST_TEST(std::filesystem::is_empty(to.parent_path()));
}

BOOST_AUTO_TEST_CASE(an_import_that_is_ended_leaves_nothing) {
  uint64_t last = 0;
  uint64_t whole = 0;
  options.proceed = [&](uint64_t done, uint64_t all) {
    BOOST_TEST(done >= last);
    last = done;
    whole = all;
    return true;
  };
  must(import(path));
  BOOST_TEST(last == whole);
  options.replace = true;
  for (const uint64_t at : {uint64_t{1}, whole / 2, whole}) {
    options.proceed = [&](uint64_t done, uint64_t) { return done < at; };
    const auto x = import(path);
    BOOST_TEST_REQUIRE(!x);
    BOOST_TEST((x.why().code == ec::cancelled));
    // The earlier import still exists, and nothing else does.
    check_same(*imported().denoiser.weights, unet, tensor_type::float32);
    BOOST_TEST(
      std::distance(std::filesystem::directory_iterator{to.parent_path()}, {})
      == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
