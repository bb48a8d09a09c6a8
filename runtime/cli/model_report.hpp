// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/runtime/cli/model_store.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// One network of a model, summed up.
struct part_outline {
  std::string part;
  std::string class_name;
  std::string config_file;
  std::string config;
  std::vector<std::string> files;
  uint64_t tensors = 0;
  uint64_t parameters = 0;
  uint64_t bytes = 0;
  /// Such as "float16", or "float16, float32" where they are mixed.
  std::string precision;
};

/// A model, summed up for people and for programs.
struct model_outline {
  std::string name;
  std::string path;
  bool shipped = false;
  std::string kind;
  /// Of all files, used or not.
  uint64_t bytes = 0;
  std::string precision;
  std::vector<part_outline> parts;
  std::string scheduler;
  std::vector<std::string> tokenizers;
  std::vector<std::string> not_loaded;
  /// How it wants to be used.
  gpu::model_traits traits;
  std::vector<std::string> missing;
};

model_outline outline_of(const stored_model& where,
                         const gpu::model_files& model);

using json_object = nlohmann::ordered_json;

/// Returns what a list says of a model, and what `show` does.
json_object to_short_json(const model_outline& x);
json_object to_json(const model_outline& x);
json_object to_json(const stored_model& where, const gpu::model_check& x);

/// Return the same as lines for people, each with its end.
std::string list_header();
std::string to_line(const model_outline& x);
std::string to_text(const model_outline& x);
std::string to_text(const gpu::model_check& x);

/// Returns bytes as people write them: "4.27 GB".
std::string show_bytes(uint64_t bytes);

/// Returns one line, without its end.
std::string to_line(const json_object& x);

} // namespace atelier::runtime::cli
