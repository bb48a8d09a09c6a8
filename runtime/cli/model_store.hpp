// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// One model of a store, whole or not.
struct stored_model {
  std::string name;
  std::filesystem::path path;
};

/// The folder of models in the data folder: a folder or a file for each.
class model_store {
public:
  /// `data`: the data folder, which need not be there.
  explicit model_store(const std::filesystem::path& data)
    : folder_(data / "models") {}

  const std::filesystem::path& folder() const {
    return folder_;
  }

  /// Returns what lies there, by name: folders and .safetensors files.
  /// Errors: ec::io_failed.
  core::result<std::vector<stored_model>> list() const;

  /// Finds a model by its path, or else by its name in the store, with or
  /// without ".safetensors".
  /// Errors: ec::not_found; the text names the nearest that there is.
  core::result<stored_model> find(const std::string& word) const;

  /// Returns where a new model of that name goes.
  /// Errors: ec::invalid_argument for a name that is no file's name.
  core::result<std::filesystem::path> place(const std::string& name) const;

private:
  std::filesystem::path folder_;
};

/// Returns the name that a model of that path gets by itself.
std::string name_from(const std::filesystem::path& path);

/// Returns the bytes of all files in a folder, or of the one file.
uint64_t bytes_on_disk(const std::filesystem::path& path);

} // namespace atelier::runtime::cli
