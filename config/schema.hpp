// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atelier::config {

/// The built-in values of a device's executor; a host can add more
/// (widened_by).
inline constexpr std::string_view executors[] = {"auto", "test_card", "torch"};

/// Maximum number of devices of one host.
inline constexpr size_t most_devices = 64;

/// Maximum number of models of one host.
inline constexpr size_t most_models = 256;

/// Sections whose options exist once per device, and once per model.
inline constexpr std::string_view devices_section = "devices";
inline constexpr std::string_view models_section = "models";

/// The type of an option's value in a file.
enum class kind : uint8_t {
  integer,
  real,
  text,
  choice,
  duration,
  byte_size,
  text_list,
};

/// The checks of a single value in addition to its kind and range.
enum class form : uint8_t {
  any,
  nonempty,
  multiple_of_64,
  power_of_two,
  device_name,
  variant_list,
  endpoint,
  origin_list,
  network_list,
  core_set,
  /// Empty, or the name of a kind of device.
  kind_name,
  /// Empty, or the path of a file or folder; readers make it absolute.
  path,
  nonempty_path,
};

/// The place of an option's value in the settings.
using place =
  std::variant<uint32_t*, uint64_t*, float*, double*, std::string*,
               std::vector<std::string>*, core::timespan*, process_mode*>;

/// One option that a user can set. The structs define the defaults.
struct option {
  std::string_view section;
  /// The name ends in the option's unit if it has one: `_ms`, `_s`, `_bytes`,
  /// `_kib`, `_mib`, `_px`.
  std::string_view name;
  /// A sentence that explains the option.
  std::string_view doc;
  /// Returns its place; the index is that of the table if the section is
  /// repeated, and unused otherwise.
  place (*at)(settings&, size_t);
  /// Range of a number, in the unit of the name.
  double least = 0;
  double most = 0;
  form shape = form::any;
  /// The allowed values, unless empty. A process_mode is the index into them.
  std::span<const std::string_view> choices = {};
};

/// One table of the file.
struct section {
  std::string_view name;
  std::string_view doc;
};

/// A section with one table for each member of a list.
struct repetition {
  std::string_view section;
  /// The noun for one member, for sentences.
  std::string_view one;
  size_t least = 0;
  size_t most = 0;
  size_t (*count)(const settings&);
  /// Makes the list `n` members with their defaults.
  void (*assign)(settings&, size_t n);
  /// Adds a member with its defaults.
  void (*add)(settings&);
};

/// The unit that the name of an option ends in.
struct unit {
  std::string_view suffix;
  std::string_view name;
  /// The number of the settings' own units (bytes, nanoseconds) in this unit.
  double scale = 1;
};

/// Returns every option, section by section in the order of the file.
std::span<const option> options();

/// Returns `x` for a configuration whose devices may have a host's executors:
/// if `x` is devices[].executor, with these `choices`, which must live as long;
/// otherwise unchanged.
option widened_by(std::span<const std::string_view> choices, option x);

/// Returns every section in the order of the file.
std::span<const section> sections();

/// Returns every repeated section.
std::span<const repetition> repetitions();

/// Returns the repetition of a section; nullptr if the section occurs once.
const repetition* repetition_of(std::string_view section);

/// Returns the kind of `x`.
kind kind_of(const option& x);

/// Returns the unit of `x`; nameless and of scale 1 if it has none.
const unit& unit_of(const option& x);

/// Returns the number of places of `x` in `values`: one per table, or one.
size_t count_of(const option& x, const settings& values);

/// Returns the dotted key of `x`, such as "devices[1].max_batch".
std::string key_of(const option& x, size_t index = 0);

/// One option of one table of its section.
struct instance {
  const config::option* option = nullptr;
  size_t index = 0;
};

/// Returns the option that lives at `member` of `values`.
/// @pre the option exists
instance option_at(const settings& values, const void* member);

/// Returns the place of `x` for reading only.
place look_at(const option& x, const settings& values, size_t index = 0);

/// Returns the description of a valid value of `x`, such as "a whole number in
/// 1..150".
std::string demand_of(const option& x);

/// Returns the fault of the value at `where` by itself, if it has one.
std::optional<std::string> fault_of(const option& x, const place& where);

/// Returns the value at `where` as TOML, in the unit of the key.
std::string value_text(const option& x, const place& where);

} // namespace atelier::config
