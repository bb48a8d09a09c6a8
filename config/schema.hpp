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

/// What a device's executor may be, beside a host's own (widened_by).
inline constexpr std::string_view executors[] = {"auto", "test_card", "torch"};

/// Most devices of one host.
inline constexpr size_t most_devices = 64;

/// Most models of one host.
inline constexpr size_t most_models = 256;

/// Sections whose options exist once per device, and once per model.
inline constexpr std::string_view devices_section = "devices";
inline constexpr std::string_view models_section = "models";

/// What an option's value looks like in a file.
enum class kind : uint8_t {
  integer,
  real,
  text,
  choice,
  duration,
  byte_size,
  text_list,
};

/// What a single value must be beyond its kind and range.
enum class form : uint8_t {
  any,
  nonempty,
  multiple_of_64,
  power_of_two,
  device_name,
  variant_list,
  endpoint,
  origin_list,
  core_set,
  /// Empty, or the name of a kind of device.
  kind_name,
};

/// Where an option's value lives in the settings.
using place =
  std::variant<uint32_t*, uint64_t*, float*, double*, std::string*,
               std::vector<std::string>*, core::timespan*, process_mode*>;

/// One thing that a user can set. The defaults are those of the structs.
struct option {
  std::string_view section;
  /// Ends in its unit where it has one: `_ms`, `_s`, `_bytes`, `_kib`, `_mib`,
  /// `_px`.
  std::string_view name;
  /// A sentence that says what it does.
  std::string_view doc;
  /// Returns its place; the index is that of the table where its section is
  /// repeated, unused elsewhere.
  place (*at)(settings&, size_t);
  /// Range of a number, in the unit of the name.
  double least = 0;
  double most = 0;
  form shape = form::any;
  /// Where not empty, the only values. A process_mode is the index into them.
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
  /// What one of them is, for sentences.
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
  /// How many of the settings' own unit (bytes, nanoseconds) it is.
  double scale = 1;
};

/// Returns every option, section by section in the order of the file.
std::span<const option> options();

/// Returns `x` as it is where devices may have a host's executors, too:
/// `choices`, which has to live as long, if `x` is devices[].executor.
option widened_by(std::span<const std::string_view> choices, option x);

/// Returns every section in the order of the file.
std::span<const section> sections();

/// Returns every repeated section.
std::span<const repetition> repetitions();

/// Returns the repetition of a section, or nullptr where it stands once.
const repetition* repetition_of(std::string_view section);

/// Returns the kind of `x`.
kind kind_of(const option& x);

/// Returns the unit of `x`; nameless and of scale 1 where it has none.
const unit& unit_of(const option& x);

/// Returns how often `x` stands in `values`: per table, or once.
size_t count_of(const option& x, const settings& values);

/// Returns the dotted key of `x`, such as "devices[1].max_batch".
std::string key_of(const option& x, size_t index = 0);

/// One option of one table of its section.
struct instance {
  const option* what = nullptr;
  size_t index = 0;
};

/// Returns the option that lives at `member` of `values`; there must be one.
instance option_at(const settings& values, const void* member);

/// Returns the place of `x` for reading only.
place look_at(const option& x, const settings& values, size_t index = 0);

/// Says what a value of `x` must be, as "a whole number in 1..150".
std::string demand_of(const option& x);

/// Says what is wrong with the value at `where` by itself, if anything.
std::optional<std::string> fault_of(const option& x, const place& where);

/// Returns the value at `where` as TOML, in the unit of the key.
std::string value_text(const option& x, const place& where);

} // namespace atelier::config
