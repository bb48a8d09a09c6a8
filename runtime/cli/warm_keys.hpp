// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/store/store_folder.hpp>
#include <atelier/runtime/parts_read.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

/// What a cache keeps of one request.
struct kept_parts {
  /// The numbers of steps of its states, rising.
  std::vector<uint32_t> steps;
  bool image = false;

  friend bool operator==(const kept_parts&, const kept_parts&) = default;
};

/// The key and the part of the prompt under which a request's work is kept.
using kept_name = std::pair<std::string, std::string>;

/// The keys under which an engine with these settings keeps the work of its
/// requests, and what its folder has of them.
/// Threads: one.
class warm_keys {
public:
  /// Reads the models' configurations and the profile, and makes the policy's
  /// first plan. Loads no weights.
  /// Errors: ec::bad_config if nothing would be kept: the text names the
  ///         setting; those of know_variants, policy_of and digests_of_models.
  static core::result<warm_keys> of(const config::settings& x);

  /// Returns the name of a request's work.
  /// Errors: ec::invalid_argument for a prompt without anything to compare;
  ///         those of to_request.
  core::result<kept_name> name_of(const generation& wanted) const;

  /// Returns the names of which the folder has everything that the policy
  /// keeps.
  /// Errors: those of index::read_texts.
  core::result<std::set<kept_name>> whole_names() const;

  /// Returns the largest number of states that the policy keeps of a request.
  uint32_t most_states() const;

  /// Returns the name of the model that requests are drawn by from noise.
  const std::string& model() const;

private:
  warm_keys() = default;

  config::settings settings_;
  std::shared_ptr<const known_variants> known_;
  std::string scope_;
  part_reader reads_;
  /// What the policy may keep of a request, one element for each kind of route.
  std::vector<kept_parts> kept_;
};

} // namespace atelier::runtime::cli
