// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/stage_worker.hpp>
#include <atelier/actors/stages/finish.hpp>
#include <atelier/actors/stages/prepare.hpp>
#include <atelier/actors/stages/standard.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// Returns Atelier's own stages, at the positions that the pools use.
inline const planning::pipeline& standard_stages() {
  static const auto all = *actors::standard_pipeline();
  return *all;
}

inline const size_t prepare_stage = *standard_stages().find("prepare");
inline const size_t finish_stage = *standard_stages().find("finish");

/// An order to prepare, with envelope and body in one struct. Orders are
/// recognized by their body's type, because other pipelines have the stages at
/// other positions.
struct prepare {
  core::ticket who;
  core::recipe how;
  core::latent_shape latent;
  ipc::slot_ref state;
  ipc::slot_ref files;
  ipc::slot_ref drawn;
  core::extent drawn_px;
  core::extent drawn_scaled_to;
  ipc::slot_ref source;

  friend bool operator==(const prepare&, const prepare&) = default;

  static std::optional<prepare> of(const actors::run_stage& x) {
    using planning::held;
    const auto order = x.order.as<actors::prepare_stage::work>();
    if (!order)
      return std::nullopt;
    const auto& body = **order;
    return prepare{x.ticket,
                   body.recipe,
                   body.latent,
                   x.writes[held::state],
                   x.reads[held::files],
                   x.reads[held::pixels],
                   body.drawn_px,
                   body.drawn_scaled_to,
                   x.writes[held::source] ? x.writes[held::source]
                                          : x.reads[held::source]};
  }

  actors::run_stage order() const {
    using planning::held;
    actors::run_stage x;
    x.ticket = who;
    x.stage = static_cast<uint16_t>(prepare_stage);
    x.writes[held::state] = state;
    x.reads[held::files] = files;
    x.reads[held::pixels] = drawn;
    x.writes[held::source] = source;
    x.order = core::typed_body::of(
      actors::prepare_stage::work{how, latent, drawn_px, drawn_scaled_to});
    return x;
  }
};

/// An order to finish, with envelope and body in one struct.
struct finish {
  core::ticket who;
  core::recipe how;
  core::prompt_pair text;
  std::string model;
  std::string variant;
  core::encoding output;
  /// The size of the pixels.
  core::extent px;
  ipc::slot_ref pixels;
  ipc::slot_ref encoded;
  std::vector<core::note> notes = {};

  friend bool operator==(const finish&, const finish&) = default;

  static std::optional<finish> of(const actors::run_stage& x) {
    using planning::held;
    const auto order = x.order.as<actors::finish_stage::work>();
    if (!order)
      return std::nullopt;
    const auto& body = **order;
    return finish{x.ticket,   body.recipe,           body.text,
                  body.model, body.variant,          body.output,
                  body.px,    x.reads[held::pixels], x.writes[held::encoded],
                  body.notes};
  }

  actors::run_stage order() const {
    using planning::held;
    actors::run_stage x;
    x.ticket = who;
    x.stage = static_cast<uint16_t>(finish_stage);
    x.reads[held::pixels] = pixels;
    x.writes[held::encoded] = encoded;
    x.order = core::typed_body::of(
      actors::finish_stage::work{how, text, model, variant, output, px, notes});
    return x;
  }
};

/// The replies to these orders.
struct prepared {
  core::ticket who;
  core::error failure;
  core::timespan took{0};
  std::vector<core::note> notes;
  int64_t began_ns = 0;

  static std::optional<prepared> of(const actors::stage_done& x) {
    if (x.stage != prepare_stage)
      return std::nullopt;
    return prepared{x.ticket, x.failure, x.took, x.notes, x.began_ns};
  }

  actors::stage_done reply() const {
    return {who,
            static_cast<uint16_t>(prepare_stage),
            failure,
            took,
            notes,
            began_ns,
            core::typed_body::of(actors::prepare_stage::done{})};
  }
};

struct finished {
  core::ticket who;
  core::error failure;
  uint64_t bytes = 0;
  std::string sha256;
  core::timespan took{0};
  int64_t began_ns = 0;

  static std::optional<finished> of(const actors::stage_done& x) {
    if (x.stage != finish_stage)
      return std::nullopt;
    finished out{x.ticket, x.failure, 0, {}, x.took, x.began_ns};
    if (const auto body = x.outcome.as<actors::finish_stage::done>()) {
      out.bytes = (*body)->bytes;
      out.sha256 = (*body)->sha256;
    }
    return out;
  }

  actors::stage_done reply() const {
    return {who,
            static_cast<uint16_t>(finish_stage),
            failure,
            took,
            {},
            began_ns,
            core::typed_body::of(actors::finish_stage::done{bytes, sha256})};
  }
};

/// Does a standard stage's work with a clock that stands still.
inline actors::stage_done do_alone(
  const actors::run_stage& x, ipc::slot_store& in,
  const planning::pipeline& stages = standard_stages()) {
  return actors::do_stage(x, stages, in, [] { return core::time_point{}; });
}

/// Returns `x` as an order or a reply of type T, which is a stage's or a
/// message, or nothing if `x` has another type.
template <class T, class Message>
std::optional<T> read_as(const Message& x) {
  if constexpr (requires(const actors::run_stage& y) { T::of(y); }) {
    const auto* y = std::get_if<actors::run_stage>(&x);
    return y != nullptr ? T::of(*y) : std::nullopt;
  } else if constexpr (requires(const actors::stage_done& y) { T::of(y); }) {
    const auto* y = std::get_if<actors::stage_done>(&x);
    return y != nullptr ? T::of(*y) : std::nullopt;
  } else {
    const auto* y = std::get_if<T>(&x);
    return y != nullptr ? std::optional<T>{*y} : std::nullopt;
  }
}

/// Returns the phase of the request that this work belongs to.
inline core::phase phase_of(const actors::work& x) {
  if (std::holds_alternative<actors::denoise>(x))
    return core::phase::denoising;
  return read_as<prepare>(x) ? core::phase::preparing : core::phase::finishing;
}

} // namespace atelier::test
