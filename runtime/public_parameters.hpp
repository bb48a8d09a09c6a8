// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/parameters.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace atelier::runtime {

/// A member of `Of` that holds a parameter; a choice is held by its name.
template <class Of>
using holder =
  std::variant<std::monostate, std::optional<bool> Of::*,
               std::optional<uint32_t> Of::*, std::optional<float> Of::*,
               std::optional<std::string> Of::*, bool Of::*, uint32_t Of::*,
               float Of::*, std::string Of::*>;

/// The places of a parameter in the public interface.
struct public_parameter {
  std::string_view name;
  holder<generation> wanted;
  /// The member of a finished image; nothing: an image does not have it.
  holder<generated_image> told = {};
};

/// One entry for each row of core::parameters, in the same order.
inline constexpr public_parameter public_parameters[] = {
  {"steps", &generation::steps, &generated_image::steps},
  {"sampler", &generation::sampler, &generated_image::sampler},
  {"karras", &generation::karras, &generated_image::karras},
  {"spacing", &generation::spacing, &generated_image::spacing},
  {"guidance", &generation::guidance, &generated_image::guidance},
  {"strength", &generation::strength, &generated_image::strength},
  {"strength_rule", &generation::strength_rule,
   &generated_image::strength_rule},
  {"noise", &generation::noise},
  {"eta", &generation::eta, &generated_image::eta},
  {"guidance_rescale", &generation::guidance_rescale,
   &generated_image::guidance_rescale},
  {"prompt_syntax", &generation::prompt_syntax},
  {"emphasis", &generation::emphasis},
  {"clip_skip", &generation::clip_skip, &generated_image::clip_skip},
  {"deterministic", &generation::deterministic},
  {"cache", &generation::cache},
  {"cache_similarity", &generation::cache_similarity},
};

static_assert(std::ranges::equal(public_parameters, core::parameters, {},
                                 &public_parameter::name,
                                 &core::parameter::name),
              "the public interface holds every parameter");

/// Returns the member of a generation for parameter I, by its own type.
template <size_t I>
constexpr auto wanted_member() {
  constexpr auto at = public_parameters[I].wanted.index();
  return std::get<at>(public_parameters[I].wanted);
}

/// Returns the member of an image for parameter I; std::monostate: none.
template <size_t I>
constexpr auto told_member() {
  constexpr auto at = public_parameters[I].told.index();
  return std::get<at>(public_parameters[I].told);
}

/// Calls f(parameter, core member, member of generation) for each, in order.
template <class F>
constexpr void each_wanted(F&& f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (f(core::parameters[I], core::member_of<I>(), wanted_member<I>()), ...);
  }
  (core::parameter_numbers{});
}

/// Calls f(parameter, core member, member of image) for each parameter that a
/// image has, in order.
template <class F>
constexpr void each_told(F&& f) {
  const auto one = [&]<size_t I>(std::integral_constant<size_t, I>) {
    if constexpr (public_parameters[I].told.index() != 0)
      f(core::parameters[I], core::member_of<I>(), told_member<I>());
  };
  [&]<size_t... I>(std::index_sequence<I...>) {
    (one(std::integral_constant<size_t, I>{}), ...);
  }
  (core::parameter_numbers{});
}

/// Returns a pointer to the value; null if it is empty.
template <class T>
const T* held(const T& x) {
  return &x;
}

template <class T>
const T* held(const std::optional<T>& x) {
  return x ? &*x : nullptr;
}

} // namespace atelier::runtime
