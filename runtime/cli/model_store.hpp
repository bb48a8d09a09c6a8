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

/// One model of a store, whole or not.
struct stored_model {
  std::string name;
  std::filesystem::path path;
  /// One of Atelier's own, which came along.
  bool shipped = false;
};

/// The folder of models in the data folder, a folder or a file for each, and
/// Atelier's own models.
class model_store {
public:
  /// `data`: the data folder, which need not be there. `family`: the folder of
  /// Atelier's own models; empty: none.
  explicit model_store(const std::filesystem::path& data,
                       std::filesystem::path family = {})
    : folder_(data / "models"), family_(std::move(family)) {}

  const std::filesystem::path& folder() const {
    return folder_;
  }

  /// Returns Atelier's own models, then what lies in the folder, by name:
  /// folders and .safetensors files.
  /// Errors: ec::io_failed.
  core::result<std::vector<stored_model>> list() const;

  /// Finds a model by its path, or else by its name: of Atelier's own, as
  /// requests find it, or in the folder, with or without ".safetensors".
  /// Errors: ec::not_found; the text names the nearest that there is.
  core::result<stored_model> find(const std::string& word) const;

  /// Whether one of Atelier's own has that name.
  bool is_shipped(std::string_view name) const;

  /// Returns where a new model of that name goes.
  /// Errors: ec::invalid_argument for a name that is no file's name.
  core::result<std::filesystem::path> place(const std::string& name) const;

private:
  std::vector<stored_model> shipped() const;

  std::filesystem::path folder_;
  std::filesystem::path family_;
};

/// Returns the name that a model of that path gets by itself.
std::string name_from(const std::filesystem::path& path);

/// Returns the bytes of all files in a folder, or of the one file.
uint64_t bytes_on_disk(const std::filesystem::path& path);

} // namespace atelier::runtime::cli
