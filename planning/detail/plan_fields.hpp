// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/route.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning::detail {

// The upper limits of a plan file.
inline constexpr uint64_t most_steps = 10'000;
inline constexpr size_t most_routes = most_keys;
inline constexpr size_t most_classes = 4'096;
inline constexpr size_t most_numbers = 4'096;

/// The words of an enumeration, in its order.
template <class Enum, size_t N>
struct words {
  std::array<std::string_view, N> all;

  std::string_view operator()(Enum x) const {
    return all[static_cast<size_t>(x)];
  }
};

/// Writes the fractions that are not 0, by the numbers of their routes.
json rows_json(std::span<const std::vector<double>> rows);

/// Reads the fields of plan files and of the memories in them.
class plan_fields : public json_reader {
public:
  plan_fields(std::string_view where, const profile& known)
    : json_reader(where), known_(known) {}

  const json* list(const json& x, const std::string& at, const char* key,
                   bool needed, size_t least, size_t most);

  bool object(const json& x, const std::string& at);

  std::string text(const json& x, const std::string& at, const char* key);

  void flag(const json& x, const std::string& at, const char* key, bool& into);

  template <class Enum, size_t N>
  void word(const json& x, const std::string& at, const char* key,
            const words<Enum, N>& of, Enum& into, bool needed = false) {
    const auto* found = find(x, at, key, needed);
    if (found == nullptr)
      return;
    for (size_t i = 0; i < N; ++i)
      if (*found == of.all[i]) {
        into = static_cast<Enum>(i);
        return;
      }
    complain(fmt::format("{}.{}", at, key),
             fmt::format("{} is not one of {}", shown(*found),
                         fmt::join(of.all, ", ")));
  }

  std::vector<core::variant_id> variants(const json& x, const std::string& at,
                                         const char* key, bool needed,
                                         size_t least);

  /// Reads whole numbers up to `most`.
  std::vector<uint32_t> wholes(const json& x, const std::string& at,
                               const char* key, uint64_t most,
                               bool needed = false);

  /// Reads numbers of the plan; if `unbounded`, null stands for infinity.
  std::vector<double> reals(const json& x, const char* key, double least,
                            double most, bool unbounded = false);

  /// Reads fractions of one by route, a row for each class; returns nothing if
  /// the plan has no routes.
  std::vector<std::vector<double>> rows(const json& x, const std::string& at,
                                        const char* key, bool needed,
                                        std::span<const route> routes);

  void rising(const std::vector<uint32_t>& x, const std::string& at);

protected:
  const profile& known_;

private:
  std::vector<double> row(const json& x, const std::string& at,
                          std::span<const route> routes);
};

/// Checks that a saved memory has no keys.
core::result<void> expect_nothing(const saved_memory& from);

} // namespace atelier::planning::detail
