// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/tiny_model.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/content_digest.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <string>
#include <string_view>

using namespace atelier;
namespace fs = std::filesystem;

namespace {

struct fixture : test::tiny_folder {
  gpu::model_files opened() const {
    auto out = gpu::open_model(path, {});
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
    return std::move(*out);
  }

  std::string digest() const {
    const auto out = gpu::content_digest(opened());
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
    BOOST_TEST(out->size() == 64u);
    return *out;
  }

  /// Flips a bit of one byte, and returns the digest meanwhile.
  std::string digest_with_changed(const fs::path& file, uint64_t at) const {
    const auto flip = [&] {
      std::fstream to{file, std::ios::in | std::ios::out | std::ios::binary};
      to.seekg(static_cast<std::streamoff>(at));
      const auto was = static_cast<char>(to.get());
      to.seekp(static_cast<std::streamoff>(at));
      to.put(static_cast<char>(was ^ 1));
    };
    flip();
    auto out = digest();
    flip();
    return out;
  }

  fs::path weights() const {
    return path / "unet" / "diffusion_pytorch_model.safetensors";
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(content_digest_test, fixture)

BOOST_AUTO_TEST_CASE(each_tensor_counts) {
  const auto before = digest();
  BOOST_TEST(digest() == before);
  const auto model = opened();
  const auto size = fs::file_size(weights());
  uint64_t data = 0;
  for (const auto& name : model.denoiser.weights->names())
    data += model.denoiser.weights->find(name)->bytes.size();
  const auto* const begin =
    model.denoiser.weights->find(model.denoiser.weights->names().front())
      ->bytes.data();
  // The first and last number of each tensor, at its place in the file.
  const auto* lowest = begin;
  for (const auto& name : model.denoiser.weights->names())
    lowest = std::min(lowest, model.denoiser.weights->find(name)->bytes.data());
  for (const auto& name : model.denoiser.weights->names()) {
    const auto bytes = model.denoiser.weights->find(name)->bytes;
    const auto at = size - data + static_cast<uint64_t>(bytes.data() - lowest);
    BOOST_TEST(digest_with_changed(weights(), at) != before, name);
    BOOST_TEST(digest_with_changed(weights(), at + bytes.size() - 1) != before,
               name);
  }
  BOOST_TEST(digest() == before);
}

BOOST_AUTO_TEST_CASE(each_small_file_counts) {
  const auto before = digest();
  for (const std::string_view name :
       {"unet/config.json", "vae/config.json", "text_encoder/config.json",
        "scheduler/scheduler_config.json", "tokenizer/vocab.json",
        "tokenizer/merges.txt", "tokenizer/tokenizer_config.json"}) {
    const auto file = path / name;
    BOOST_REQUIRE_MESSAGE(fs::exists(file), file);
    const auto bytes = fs::file_size(file);
    std::ofstream{file, std::ios::app} << '\n';
    BOOST_TEST(digest() != before, name);
    fs::resize_file(file, bytes);
  }
  using file = std::pair<std::string_view, std::string_view>;
  for (const auto& [name, content] :
       {file{"tokenizer/special_tokens_map.json", "{}"},
        file{"tokenizer/added_tokens.json", "{}"},
        file{"known_words.txt", "circle"},
        file{
          "atelier.json",
          R"({"format":"atelier.model","version":1,"captions":"scenes"})"}}) {
    const auto added = path / name;
    BOOST_REQUIRE_MESSAGE(!fs::exists(added), added);
    std::ofstream{added} << content;
    BOOST_TEST(digest() != before, name);
    fs::remove(added);
    BOOST_TEST(digest() == before, name);
  }
  // A date is no content.
  fs::last_write_time(weights(), fs::file_time_type{});
  BOOST_TEST(digest() == before);
}

BOOST_AUTO_TEST_CASE(changed_files_are_told_with_a_remedy) {
  const auto before = digest();
  BOOST_TEST(bool{gpu::check_content(opened(), before)});
  test::tiny_tensors("UNet2DConditionModel", test::tiny_unet_config(), 2)
    .write(weights());
  const auto refused = gpu::check_content(opened(), before);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == core::ec::unavailable));
  BOOST_TEST(refused.why().text
             == path.string()
                  + ": its files have changed since the start: restart the "
                    "server to use them, or put the old ones back");
}

// The file stays mapped: a read of what is no longer there would end the
// program.
BOOST_AUTO_TEST_CASE(a_file_that_is_cut_while_it_is_open_is_told) {
  const auto model = opened();
  fs::resize_file(weights(), fs::file_size(weights()) / 2);
  const auto cut = gpu::content_digest(model);
  BOOST_REQUIRE(!cut);
  BOOST_TEST(cut.why().text.find(weights().string()) == 0u, cut.why().text);
  fs::resize_file(weights(), 0);
  BOOST_TEST(!gpu::content_digest(model));
  fs::remove(weights());
  const auto gone = gpu::content_digest(model);
  BOOST_REQUIRE(!gone);
  BOOST_TEST((gone.why().code == core::ec::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
