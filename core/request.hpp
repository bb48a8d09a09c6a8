// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/float_bits.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/parameters.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace atelier::core {

/// Tells what a request wants, and from whom it comes.
enum class request_kind : uint8_t {
  /// A picture from a prompt.
  generate,
  /// A template image repainted under a mask.
  edit,
  /// A copy of a served request, run again to learn another route's quality.
  shadow,
  /// A request of the runtime's own, run to measure.
  probe,
};

/// Orders requests: all of a higher one go before any of a lower one, but for
/// ageing.
enum class priority : uint8_t { low, normal, high };

/// The encoding of the finished picture.
enum class image_format : uint8_t { png, jpeg, webp };

/// A prompt with what the picture should not show.
struct prompt_pair {
  std::string positive;
  std::string negative;

  friend bool operator==(const prompt_pair&, const prompt_pair&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, prompt_pair& x) {
    return f(x.positive, x.negative);
  }
};

/// What the client fixed; an empty field is the policy's to choose.
struct pins : wanted_parameters {
  std::optional<std::string> model;
  std::optional<std::string> variant;
  std::optional<uint32_t> level;

  friend bool operator==(const pins&, const pins&) = default;
};

/// How the finished picture is encoded.
struct encoding {
  image_format format = image_format::png;
  /// 1..100 for JPEG and WebP (100 is lossless in WebP); unused by PNG.
  uint32_t quality = 95;

  friend bool operator==(const encoding&, const encoding&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, encoding& x) {
    return f(x.format, x.quality);
  }
};

/// The files that an image-to-image request or an edit starts from, as they
/// came: their headers were read, their pixels were not.
struct source_images {
  /// PNG, JPEG or WebP.
  std::vector<uint8_t> image;
  /// Likewise; white is repainted. Empty: there is no mask.
  std::vector<uint8_t> mask;
  /// What their headers say.
  extent image_px;
  extent mask_px;

  uint64_t bytes() const {
    return uint64_t{image.size()} + mask.size();
  }

  uint64_t pixels() const {
    return image_px.pixels() + mask_px.pixels();
  }
};

/// One image wanted, as it entered: valid (see validate) and immutable.
struct request : settled_parameters {
  request_id id;
  /// With a mask it is an edit; a source without one makes a `generate` start
  /// from that picture (image to image).
  request_kind kind = request_kind::generate;
  prompt_pair text;
  /// Null: the picture starts from noise alone. With a source, px is never
  /// empty.
  std::shared_ptr<const source_images> source;
  extent px;
  /// A model that draws at its own size only may draw there, and its image is
  /// scaled; else it draws at `px`.
  bool native_only = true;
  uint64_t seed = 0;
  encoding output;
  priority prio = priority::normal;
  tenant_id tenant;
  pins fixed;
  /// Wants `progressed` calls; without, they are not sent.
  bool wants_progress = false;
  /// Wants a preview with them after every so many steps; 0: none.
  uint32_t preview_every = 0;
  /// What the caller calls it in its own traces; empty: nothing.
  std::string trace;
  /// What is known at the door that its image's client should know.
  std::vector<note> notes;
  time_point arrived;
  time_point deadline = never;
};

/// Returns where a request holds what was asked for of a parameter.
template <class T>
std::optional<T>& asked_of(request& x, const chosen_member<T>& at) {
  return x.fixed.*at.asked;
}

template <class T>
T& asked_of(request& x, const settled_member<T>& at) {
  return x.*at.asked;
}

/// Returns what was asked for; null where nothing was.
template <class T>
const T* asked_in(const request& x, const chosen_member<T>& at) {
  const auto& asked = x.fixed.*at.asked;
  return asked ? &*asked : nullptr;
}

template <class T>
const T* asked_in(const request& x, const settled_member<T>& at) {
  return &(x.*at.asked);
}

/// Returns how an inspector takes a parameter: a float as its bits.
template <class T>
decltype(auto) as_inspected(T& x) {
  if constexpr (std::is_same_v<T, float>)
    return float_bits{x};
  else
    return (x);
}

/// How one stage runs a request: every choice made, nothing left to default.
struct recipe : used_parameters {
  variant_id variant;
  /// Starts from a picture, not from noise alone: an image-to-image run, or an
  /// edit.
  bool from_image = false;
  /// The size at which it is drawn.
  extent px;
  /// The size to which the image is scaled and cut; empty: it stays as drawn.
  extent scaled_to;
  uint64_t seed = 0;

  friend bool operator==(const recipe&, const recipe&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, recipe& x) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return f(x.variant, as_inspected(x.*member_of<I>().used)..., x.from_image,
               x.px, x.scaled_to, x.seed);
    }
    (parameter_numbers{});
  }
};

/// Returns the size of the image that a run answers with.
inline extent answered_px(const recipe& how) {
  return how.scaled_to == extent{} ? how.px : how.scaled_to;
}

/// Returns how many steps a run makes, at least one: what a row's length is,
/// wherever one is counted.
uint32_t steps_to_run(const recipe& how);

std::string_view to_string(request_kind x);
std::string_view to_string(priority x);
std::string_view to_string(noise_source x);
std::string_view to_string(image_format x);

/// Returns the value of that name, if there is one. Names are those that
/// `to_string` gives.
std::optional<noise_source> parse_noise_source(std::string_view name);
std::optional<image_format> parse_image_format(std::string_view name);
std::optional<priority> parse_priority(std::string_view name);

} // namespace atelier::core
