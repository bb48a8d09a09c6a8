// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tiny_model.hpp"
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::test {

/// The name of the weights of the denoiser and the autoencoder.
inline constexpr auto weights_name = "diffusion_pytorch_model.safetensors";

/// A small model's folder that a test changes and opens.
struct changed_folder : tiny_folder {
  core::result<gpu::model_files> open() const {
    return gpu::open_model(path, options);
  }

  gpu::model_files opened() const {
    auto x = open();
    BOOST_REQUIRE_MESSAGE(x, (x ? "" : x.why().text));
    return std::move(*x);
  }

  /// Returns why the model is refused, without the folder's name.
  std::string refusal(core::ec code) const {
    const auto x = open();
    if (x)
      return "opened";
    BOOST_TEST((x.why().code == code), x.why().text);
    auto why = x.why().text;
    const auto folder = path.string();
    BOOST_TEST(why.find(folder) != std::string::npos, why);
    for (auto at = why.find(folder); at != std::string::npos;
         at = why.find(folder))
      why.replace(at, folder.size(), "M");
    return why;
  }

  void change_index(const std::string& from, const std::string& to) const {
    auto text_ = read("model_index.json");
    const auto at = text_.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    write("model_index.json", text_.replace(at, from.size(), to));
  }

  /// Splits the denoiser's weights into two parts with an index.
  void shard(const std::string& index_name) const {
    std::filesystem::remove(path / "unet" / weights_name);
    std::array<tensor_box, 2> parts;
    std::string map;
    size_t i = 0;
    for (const auto& name : unet.names()) {
      const auto& x = unet[name];
      std::vector<float> values(gpu::elements_of(x));
      std::memcpy(values.data(), x.bytes.data(), x.bytes.size());
      parts[i % 2].add(name, x.shape, values);
      map +=
        "\"" + name + "\": \"part-" + std::to_string(i % 2) + ".safetensors\",";
      ++i;
    }
    for (size_t k = 0; k < 2; ++k)
      parts[k].write(path / "unet"
                     / ("part-" + std::to_string(k) + ".safetensors"));
    map.pop_back();
    write_at("unet/" + index_name,
             R"({"metadata": {"total_size": 1}, "weight_map": {)" + map + "}}");
  }

  void check_unet(const gpu::model_files& x) const {
    BOOST_TEST((x.denoiser.weights->names() == unet.names()));
    for (const auto& name : unet.names()) {
      const auto view = *x.denoiser.weights->find(name);
      BOOST_TEST(std::equal(view.bytes.begin(), view.bytes.end(),
                            unet[name].bytes.begin()),
                 name);
    }
  }

  gpu::model_file_options options;
};

} // namespace atelier::test
