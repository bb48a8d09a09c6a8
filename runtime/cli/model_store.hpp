// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

/// One model of a store, complete or not.
struct stored_model {
  std::string name;
  std::filesystem::path path;
  /// The model is shipped with Atelier.
  bool shipped = false;
};

/// The models in the data folder, each a folder or a file, and Atelier's own
/// models.
class model_store {
public:
  /// Uses `data` as the data folder, which need not exist, and `family` as the
  /// folder of Atelier's own models; empty if it has none.
  explicit model_store(const std::filesystem::path& data,
                       std::filesystem::path family = {})
    : folder_(data / "models"), family_(std::move(family)) {}

  const std::filesystem::path& folder() const {
    return folder_;
  }

  /// Returns Atelier's own models, then the folders and .safetensors files of
  /// the models folder by name.
  /// Errors: ec::io_failed.
  core::result<std::vector<stored_model>> list() const;

  /// Finds a model by its path, otherwise by its name: one of Atelier's own, as
  /// requests find it, or one in the folder, with or without ".safetensors".
  /// Errors: ec::not_found; the text names the nearest known model.
  core::result<stored_model> find(const std::string& word) const;

  /// Returns whether one of Atelier's own models has that name.
  bool is_shipped(std::string_view name) const;

  /// Returns the path of a new model with that name.
  /// Errors: ec::invalid_argument for a name that cannot be a file's name.
  core::result<std::filesystem::path> place(const std::string& name) const;

private:
  std::vector<stored_model> shipped() const;

  std::filesystem::path folder_;
  std::filesystem::path family_;
};

/// Returns the default name of a model at that path.
std::string name_from(const std::filesystem::path& path);

/// Returns the bytes of all files in a folder, or of the one file.
uint64_t bytes_on_disk(const std::filesystem::path& path);

} // namespace atelier::runtime::cli
