// SPDX-License-Identifier: Apache-2.0
#include "changed_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier;
using core::ec;
using test::weights_name;

BOOST_FIXTURE_TEST_SUITE(weight_files_test, test::changed_folder)

BOOST_AUTO_TEST_CASE(weights_that_are_pytorch_files_alone_are_refused) {
  for (const auto* name :
       {"diffusion_pytorch_model.bin", "model.ckpt", "weights.pt"}) {
    std::filesystem::rename(path / "unet" / weights_name, path / "kept");
    write_at(std::string{"unet/"} + name, "PK");
    BOOST_TEST(refusal(ec::bad_payload)
               == std::string{"M/unet: the weights are only a PyTorch file ("}
                    + name
                    + "), which can run code when it is read: convert them to "
                      ".safetensors");
    std::filesystem::rename(path / "kept", path / "unet" / weights_name);
    BOOST_TEST(static_cast<bool>(open()));
    remove(std::string{"unet/"} + name);
  }
}

BOOST_AUTO_TEST_CASE(a_variant_is_taken_where_there_is_one) {
  auto other =
    test::tiny_tensors("UNet2DConditionModel", test::tiny_unet_config(), 9);
  other.write(path / "unet/diffusion_pytorch_model.fp16.safetensors");
  check_unet(opened());
  options.variant = "fp16";
  const auto x = opened();
  const auto name = unet.names().front();
  const auto view = *x.denoiser.weights->find(name);
  BOOST_TEST(std::equal(view.bytes.begin(), view.bytes.end(),
                        other[name].bytes.begin()));
  options.variant = "";
  remove(std::string{"unet/"} + weights_name);
  BOOST_TEST(opened().denoiser.files.front().filename().string()
             == "diffusion_pytorch_model.fp16.safetensors");
  other.write(path / "unet/diffusion_pytorch_model.ema.safetensors");
  BOOST_TEST(refusal(ec::not_found)
             == "M/unet: only variants of the weights were found (ema, fp16): "
                "name one");
}

BOOST_AUTO_TEST_CASE(weights_in_parts_are_read_by_their_index) {
  shard("diffusion_pytorch_model.safetensors.index.json");
  const auto x = opened();
  check_unet(x);
  BOOST_TEST(x.denoiser.files.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_variant_may_be_in_parts) {
  for (const auto* name :
       {"diffusion_pytorch_model.safetensors.index.fp16.json",
        "diffusion_pytorch_model.safetensors.fp16.index.json",
        "diffusion_pytorch_model.fp16.safetensors.index.json"}) {
    shard(name);
    options.variant = "fp16";
    check_unet(opened());
    std::filesystem::remove(path / "unet" / name);
  }
  shard("diffusion_pytorch_model.safetensors.index.fp16.json");
  options.variant = "";
  check_unet(opened());
}

BOOST_AUTO_TEST_CASE(an_index_that_leads_elsewhere_is_refused) {
  const auto index = std::string{"unet/diffusion_pytorch_model.safetensors."
                                 "index.json"};
  shard(index.substr(5));
  const auto good = read(index);
  const auto outside = path / "part-0.safetensors";
  std::filesystem::copy_file(path / "unet/part-0.safetensors", outside);
  for (const auto& bad :
       {std::string{"../part-0.safetensors"}, outside.string(),
        std::string{"../../x"}, std::string{"a/b"}, std::string{".."},
        std::string{"."}, std::string{}, std::string{"\\u0000"}}) {
    auto changed = good;
    for (auto at = changed.find("part-0.safetensors"); at != std::string::npos;
         at = changed.find("part-0.safetensors", at + bad.size()))
      changed.replace(at, 18, bad);
    write(index, changed);
    BOOST_TEST(refusal(ec::bad_payload)
                   .find("is not the name of a file in the same folder")
                 != std::string::npos,
               bad);
  }
  for (const auto* text_ :
       {"{}", "{\"weight_map\": 1}", "{\"weight_map\": {}}"}) {
    write(index, text_);
    BOOST_TEST(refusal(ec::bad_payload)
               == "M/" + index + ": weight_map is missing or empty");
  }
  write(index, "{\"weight_map\": {\"x\": 1}}");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/" + index
                  + ": weight_map.x: number is not the name of a file in the "
                    "same folder");
}

BOOST_AUTO_TEST_CASE(an_index_and_its_parts_say_the_same) {
  const auto index = std::string{"unet/diffusion_pytorch_model.safetensors."
                                 "index.json"};
  shard(index.substr(5));
  const auto good = read(index);
  const auto change = [&](const std::string& from, const std::string& to) {
    auto changed = good;
    const auto at = changed.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    write(index, changed.replace(at, from.size(), to));
  };
  change("\"conv_in.bias\": \"part-0.safetensors\",", "");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/unet/part-0.safetensors: tensor conv_in.bias is not in the "
                "index M/"
                  + index);
  change("\"conv_in.bias\":", "\"more\": \"part-0.safetensors\", "
                              "\"conv_in.bias\":");
  BOOST_TEST(refusal(ec::bad_payload)
             == "M/" + index
                  + ": weight_map.more: part-0.safetensors has no such tensor");
  change("\"conv_in.bias\": \"part-0.safetensors\"",
         "\"conv_in.bias\": \"part-1.safetensors\"");
  BOOST_TEST(
    refusal(ec::bad_payload)
    == "M/unet/part-0.safetensors: it has tensor conv_in.bias, but the "
       "index M/"
         + index + " names part-1.safetensors for that tensor");
  write(index, good);
  remove("unet/part-1.safetensors");
  BOOST_TEST(refusal(ec::not_found)
             == "M/unet/part-1.safetensors: No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
