// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/enum_count.hpp>
#include <atelier/core/instruction_set.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

namespace atelier::core {

namespace {

constexpr instruction_set last{enum_count<instruction_set> - 1};

std::atomic<instruction_set> limit{last};

#ifdef ATELIER_INSTRUCTION_SETS

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0
      && __builtin_cpu_supports("fma") != 0
      && __builtin_cpu_supports("bmi") != 0
      && __builtin_cpu_supports("bmi2") != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0
      && __builtin_cpu_supports("avx512bw") != 0
      && __builtin_cpu_supports("avx512dq") != 0
      && __builtin_cpu_supports("avx512vl") != 0
      && __builtin_cpu_supports("avx512cd") != 0;
}

bool has_avx512_bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0;
}

#else

bool has_avx2() {
  return false;
}

bool has_avx512() {
  return false;
}

bool has_avx512_bf16() {
  return false;
}

#endif

bool is_available(instruction_set x) {
  switch (x) {
    case instruction_set::portable:
      return true;
    case instruction_set::avx2:
      return has_avx2();
    case instruction_set::avx512:
      return has_avx512();
    case instruction_set::avx512_bf16:
      return has_avx512_bf16();
  }
  return false;
}

} // namespace

std::string_view to_string(instruction_set x) {
  switch (x) {
    case instruction_set::portable:
      return "portable";
    case instruction_set::avx2:
      return "avx2";
    case instruction_set::avx512:
      return "avx512";
    case instruction_set::avx512_bf16:
      return "avx512_bf16";
  }
  return "unknown";
}

std::optional<instruction_set> parse_instruction_set(std::string_view name) {
  for (size_t i = 0; i < enum_count<instruction_set>; ++i)
    if (const instruction_set x{static_cast<uint8_t>(i)}; to_string(x) == name)
      return x;
  return std::nullopt;
}

const std::vector<instruction_set>& available_instruction_sets() {
  // Never destroyed, as other threads may compute while the process exits.
  static const auto& all = *new auto([] {
    std::vector<instruction_set> out;
    for (size_t i = 0; i < enum_count<instruction_set>; ++i)
      if (const instruction_set x{static_cast<uint8_t>(i)}; is_available(x))
        out.push_back(x);
    return out;
  }());
  return all;
}

instruction_set instruction_set_in_use() {
  static const auto fastest = available_instruction_sets().back();
  return std::min(limit.load(std::memory_order_relaxed), fastest);
}

result<void> check_available(instruction_set x,
                             std::span<const instruction_set> available) {
  if (std::ranges::find(available, x) != available.end())
    return {};
  std::vector<std::string_view> names;
  for (const auto one : available)
    names.push_back(to_string(one));
  return fail(ec::bad_config,
              "this processor lacks the instruction set {} (available: {})",
              to_string(x), fmt::join(names, ", "));
}

result<void> limit_instruction_set(instruction_set most) {
  if (auto ok = check_available(most, available_instruction_sets()); !ok)
    return ok;
  limit.store(most, std::memory_order_relaxed);
  return {};
}

} // namespace atelier::core
