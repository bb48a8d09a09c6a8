// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/bert/sentence_folder.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/runtime/encoder_identity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace atelier::runtime {

namespace {

namespace fs = std::filesystem;

constexpr size_t revision_digits = 16;

/// The files of an encoder's folder, and of its network's, that say which
/// vectors it makes.
constexpr std::array<std::string_view, 12> encoder_files{
  "1_Pooling/config.json",
  "added_tokens.json",
  "config.json",
  "merges.txt",
  "model.safetensors",
  "modules.json",
  "sentence_bert_config.json",
  "special_tokens_map.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "vocab.json",
  "vocab.txt"};

/// Adds a file's name, size and bytes.
core::result<void> add_named_file(const fs::path& file, std::string_view name,
                                  core::sha256_stream& to) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  std::ifstream from{file, std::ios::binary};
  if (error || !from)
    return core::fail(core::ec::io_failed, "cache.encoder: cannot read {}",
                      file.string());
  const auto head = fmt::format("{} {}\n", name, size);
  to.update(std::as_bytes(std::span{head}));
  std::vector<char> piece(size_t{1} << 20);
  for (uint64_t left = size; left > 0;) {
    from.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<size_t>(from.gcount());
    if (got == 0)
      return core::fail(core::ec::io_failed,
                        "cache.encoder: {}: ends after {} of {} bytes",
                        file.string(), size - left, size);
    to.update(std::as_bytes(std::span{piece}.first(got)));
    left -= std::min<uint64_t>(left, got);
  }
  return {};
}

/// Adds the files of a folder, and returns their number.
core::result<size_t> add_files(const fs::path& folder,
                               core::sha256_stream& to) {
  size_t out = 0;
  for (const auto name : encoder_files) {
    const auto file = folder / name;
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      continue;
    if (auto ok = add_named_file(file, name, to); !ok)
      return ok.why();
    ++out;
  }
  return out;
}

std::string revision_of(std::span<const uint8_t> digest) {
  return core::to_hex(digest).substr(0, revision_digits);
}

encoder_identity identity_of_words() {
  const auto vector =
    index::vector_of("a small red circle on a navy background");
  return {std::string{index::words_encoder()->name()},
          revision_of(core::sha256(std::as_bytes(std::span{vector})))};
}

} // namespace

core::result<encoder_identity> encoder_identity_of(
  const config::settings& settings) {
  if (settings.cache.encoder.empty())
    return identity_of_words();
  const fs::path folder{settings.cache.encoder};
  const auto network = gpu::network_folder(folder);
  if (!network)
    return core::fail(network.why().code, "cache.encoder: {}",
                      network.why().text);
  core::sha256_stream all;
  auto found = add_files(folder, all);
  if (found && *found != 0 && *network != folder)
    found = add_files(*network, all);
  if (!found)
    return found.why();
  if (*found == 0)
    return core::fail(core::ec::not_found,
                      "cache.encoder: {}: has no files of an encoder",
                      folder.string());
  auto named = folder.lexically_normal();
  if (!named.has_filename())
    named = named.parent_path();
  return encoder_identity{named.filename().string(), revision_of(all.finish())};
}

core::result<std::string> image_revision_of(const config::settings& settings,
                                            std::string_view revision) {
  core::sha256_stream all;
  const auto head = fmt::format("images {}\n", revision);
  all.update(std::as_bytes(std::span{head}));
  const std::string_view name = "preprocessor_config.json";
  if (auto ok =
        add_named_file(fs::path{settings.cache.encoder} / name, name, all);
      !ok)
    return ok.why();
  return revision_of(all.finish());
}

} // namespace atelier::runtime
