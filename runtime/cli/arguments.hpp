// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/parameters.hpp>
#include <atelier/core/result.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// The options that every subcommand has, as they were written.
struct common_arguments {
  std::optional<std::string> config;
  std::vector<std::string> set;
  std::optional<std::string> data;
  std::optional<std::string> log;
  bool json = false;
};

/// The options of core::parameters, as they were written; a flag is "true".
class parameter_arguments {
public:
  /// Returns the text of the parameter with that name.
  /// @pre The table has the name.
  std::optional<std::string>& operator[](std::string_view name) {
    return texts_[place_of(name)];
  }

  const std::optional<std::string>& operator[](std::string_view name) const {
    return texts_[place_of(name)];
  }

private:
  static size_t place_of(std::string_view name) {
    const auto* const i =
      std::ranges::find(core::parameters, name, &core::parameter::name);
    ATELIER_EXPECTS(i != std::end(core::parameters), "the table has the name");
    return static_cast<size_t>(i - std::begin(core::parameters));
  }

  std::array<std::optional<std::string>, core::parameter_count> texts_;
};

/// The arguments of `generate` and `edit`, as they were written.
struct generate_arguments {
  std::vector<std::string> prompts;
  /// The image to start from: --init, or IMAGE of `edit`.
  std::optional<std::string> image;
  std::optional<std::string> mask;
  std::optional<std::string> output;
  std::optional<std::string> count;
  std::optional<std::string> seed;
  parameter_arguments parameters;
  std::optional<std::string> size;
  std::optional<std::string> native_only;
  std::optional<std::string> negative;
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> variant;
  std::optional<std::string> policy;
  std::optional<std::string> rng;
  std::optional<std::string> deadline_ms;
  std::optional<std::string> priority;
  std::optional<std::string> processes;
  std::optional<std::string> prompts_file;
  std::optional<std::string> format;
  std::optional<std::string> quality;
  std::optional<std::string> timeline;
  std::optional<std::string> server;
  std::optional<std::string> key;
  /// File of trusted certificates for --server: --cacert.
  std::optional<std::string> authorities;
  /// The subcommand is `edit`.
  bool edit = false;
  bool force = false;
};

/// The arguments of `serve`, as they were written.
struct serve_arguments {
  std::optional<std::string> listen;
  std::optional<std::string> model;
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> policy;
  std::optional<std::string> processes;
  std::optional<std::string> timeline;
  bool insecure = false;
};

/// The arguments of `status` and `stop`, as they were written.
struct server_arguments {
  std::optional<std::string> server;
  std::optional<std::string> key;
  std::optional<std::string> authorities;
};

/// Returns the overrides of the settings that the common options imply: those
/// of --set, then that of --log.
/// Errors: ec::invalid_argument for an invalid --log, --set, --config or
///         --data.
core::result<std::vector<std::string>> read_common(
  const common_arguments& arguments);

/// Returns the key for a server: the given one, otherwise that of ATELIER_KEY.
std::optional<std::string> server_key(const std::optional<std::string>& given);

/// Returns whether ATELIER_INSECURE_KEY is 1: the key may be sent to other
/// machines without TLS.
bool key_may_be_seen();

/// Returns the data folder: --data, or atelier in XDG_DATA_HOME, or that
/// variable's default. The path is empty if the environment names no home.
std::filesystem::path data_folder(const common_arguments& arguments);

} // namespace atelier::runtime::cli
