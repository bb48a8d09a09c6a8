// SPDX-License-Identifier: Apache-2.0
#include "gpu/models/mutate.hpp"
#include "gpu/models/tiny_model.hpp"
#include "support/counted_memory.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/detail/safetensors_header.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>

using namespace atelier;
using core::ec;

namespace {

// A header's shortest entries need this many times their bytes as a table. A
// message about an entry contains its name twice.
constexpr size_t header_factor = 12;
constexpr size_t header_spare = 4096;

const std::vector<std::string>& headers() {
  static const std::vector<std::string> out = {
    "{}",
    R"({"__metadata__":{"format":"pt"}})",
    R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
    R"({"__metadata__":{"format":"pt","k":"\u00e9\n"},)"
    R"("b":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
    R"("a\"\\":{"shape":[],"data_offsets":[8,16],"dtype":"I64"}})",
    R"({"x":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]},)"
    R"("y":{"dtype":"U8","shape":[1,8],"data_offsets":[0,8]},)"
    R"("z":{"dtype":"BOOL","shape":[8,1,1],"data_offsets":[8,16]}}   )",
  };
  return out;
}

/// Checks one header; returns the bytes that it needed, divided by its own.
double check_header(const std::string& text) {
  std::optional<core::result<gpu::detail::safetensors_header>> read;
  const auto bytes = test::most_bytes_of(
    [&] { read = gpu::detail::parse_safetensors_header(text, 16, "FILE"); });
  BOOST_REQUIRE_MESSAGE(bytes <= header_factor * text.size() + header_spare,
                        text.size() << " bytes took " << bytes);
  if (*read) {
    uint64_t sum = 0;
    for (const auto& [name, x] : (**read).tensors)
      sum += x.end - x.begin;
    BOOST_REQUIRE_EQUAL(sum, 16u);
  } else {
    BOOST_REQUIRE((read->why().code == ec::bad_payload));
    BOOST_REQUIRE(read->why().text.starts_with("FILE: "));
    BOOST_REQUIRE(read->why().text.size() < 1000);
  }
  return static_cast<double>(bytes) / static_cast<double>(text.size() + 1);
}

void write_file(const std::filesystem::path& file, const std::string& header,
                size_t data_bytes) {
  const uint64_t length = header.size();
  std::ofstream out{file, std::ios::binary};
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header << std::string(data_bytes, 'd');
}

} // namespace

BOOST_AUTO_TEST_SUITE(model_fuzz_test)

BOOST_AUTO_TEST_CASE(mutated_headers_are_read_or_refused) {
  test::mutator mutate{test::seed()};
  size_t read = 0;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const auto text = mutate(headers()[mutate.below(headers().size())]);
    if (text.empty())
      continue;
    check_header(text);
    if (gpu::detail::parse_safetensors_header(text, 16, "FILE"))
      ++read;
  }
  BOOST_TEST_MESSAGE(read << " of them were still whole");
}

BOOST_AUTO_TEST_CASE(mutated_files_are_opened_or_refused) {
  test::scratch_folder scratch;
  const auto file = scratch.path / "x.safetensors";
  test::mutator mutate{test::seed() + 1};
  write_file(file, headers()[3], 16);
  const auto whole = scratch.read("x.safetensors");
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const auto text = mutate(whole);
    scratch.write("x.safetensors", text);
    const auto bytes = test::most_bytes_of([&] {
      const auto opened = gpu::safetensors_file::open(file);
      if (!opened) {
        BOOST_REQUIRE(opened.why().text.starts_with(file.string() + ": "));
        return;
      }
      for (const auto& name : (*opened)->names()) {
        const auto x = *(*opened)->find(name);
        BOOST_REQUIRE(x.bytes.size() <= text.size());
      }
    });
    BOOST_REQUIRE_LE(bytes, header_factor * text.size() + header_spare);
  }
}

BOOST_AUTO_TEST_CASE(hostile_headers_take_memory_in_proportion) {
  constexpr size_t size = 5'000'000;
  const auto filled = [](const std::string& start, const std::string& unit) {
    auto out = start;
    while (out.size() < size)
      out += unit;
    return out;
  };
  check_header(filled("{\"x\":", "["));
  check_header(filled("{\"x\":{\"shape\":", "["));
  check_header(filled("{\"x\":", "{\"x\":"));
  check_header(filled("{\"", "n"));
  check_header(filled("{\"", "\\u0041"));
  check_header(filled("{\"x\":{\"shape\":[", "1,"));
  check_header(filled("{\"__metadata__\":{\"k\":\"", "v"));
  check_header(filled("{", " "));
  check_header(filled("{\"x\":{\"dtype\":\"", "F"));
  check_header(filled("{\"x\":{\"data_offsets\":[", "0"));
  std::string many = "{\"__metadata__\":{";
  for (size_t i = 0; many.size() < size; ++i)
    many += fmt::format("\"{:x}\":\"\",", i);
  check_header(many);
  many = "{";
  for (size_t i = 0; many.size() < size; ++i)
    many += fmt::format("\"{:x}\":{{\"dtype\":\"U8\",\"shape\":[0],"
                        "\"data_offsets\":[0,0]}},",
                        i);
  check_header(many);
}

BOOST_AUTO_TEST_CASE(mutated_configurations_are_read_or_refused) {
  const test::tiny_folder model;
  const std::vector<std::string> files = {
    "model_index.json",
    "unet/config.json",
    "vae/config.json",
    "text_encoder/config.json",
    "tokenizer/tokenizer_config.json",
    "scheduler/scheduler_config.json",
    "vae/diffusion_pytorch_model.safetensors.index.json",
  };
  // The index is beside the single file, and takes precedence.
  std::string map;
  for (const auto& name : model.vae.names())
    map +=
      fmt::format("\"{}\": \"diffusion_pytorch_model.safetensors\",", name);
  map.pop_back();
  model.write(files.back(), "{\"weight_map\": {" + map + "}}");
  const gpu::check_options options;
  size_t usual = 0;
  usual = test::most_bytes_of([&] {
    const auto x = gpu::check_model(model.path, options);
    BOOST_REQUIRE(x);
    BOOST_REQUIRE(x->sound());
  });
  test::mutator mutate{test::seed() + 2};
  size_t sound = 0;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const auto& file = files[mutate.below(files.size())];
    const auto good = model.read(file);
    const auto text = mutate(good);
    model.write(file, text);
    const auto bytes = test::most_bytes_of([&] {
      const auto x = gpu::check_model(model.path, options);
      BOOST_REQUIRE(x);
      if (x->sound())
        ++sound;
      // Not every change has an effect. A finding names the model.
      for (const auto& finding : x->findings)
        BOOST_REQUIRE(finding.text.find(model.path.string())
                      != std::string::npos);
    });
    // The bound covers a tree's nodes, and the names of missing tensors.
    BOOST_REQUIRE_LE(bytes, usual + 40 * text.size() + 1'000'000);
    model.write(file, good);
  }
  BOOST_TEST_MESSAGE(sound << " of them were still sound");
}

BOOST_AUTO_TEST_CASE(mutated_checkpoints_are_opened_or_refused) {
  const test::tiny_folder model;
  const auto file = model.path / "m.safetensors";
  tiny_checkpoint(model).write(file);
  const auto whole = model.read("m.safetensors");
  uint64_t length = 0;
  std::memcpy(&length, whole.data(), sizeof length);
  const auto header = whole.substr(8, length);
  const auto data = whole.substr(8 + length);
  test::mutator mutate{test::seed() + 3};
  size_t opened = 0;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    const auto text = mutate(header);
    const uint64_t fresh = text.size();
    std::string start(8, '\0');
    std::memcpy(start.data(), &fresh, sizeof fresh);
    model.write("m.safetensors", start + text + data);
    const auto bytes = test::most_bytes_of([&] {
      const auto x = gpu::open_parts(file, {});
      if (!x) {
        BOOST_REQUIRE(x.why().text.starts_with(file.string() + ": "));
        return;
      }
      ++opened;
    });
    BOOST_REQUIRE_LE(bytes, header_factor * text.size() + 100'000);
  }
  BOOST_TEST_MESSAGE(opened << " of them were opened");
}

BOOST_AUTO_TEST_SUITE_END()
