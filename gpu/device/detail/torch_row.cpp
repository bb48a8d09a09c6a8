// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/gpu/device/detail/latent_mask.hpp>
#include <atelier/gpu/device/detail/torch_row.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/prompt_notes.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/planning/route.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace atelier::gpu::detail {

namespace {

// Functions below throw model_error, which `guarded` catches.
template <class T>
T taken(core::result<T> x) {
  if (!x)
    throw model_error{std::move(x).why()};
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

torch::Tensor from_span(std::span<const float> from,
                        const std::vector<int64_t>& shape,
                        torch::Device device) {
  auto out = torch::empty(shape, torch::kFloat32);
  ATELIER_EXPECTS(static_cast<size_t>(out.numel()) == from.size(),
                  "the values fill the shape");
  std::memcpy(out.data_ptr<float>(), from.data(), from.size_bytes());
  return out.to(device);
}

void copy_out(const torch::Tensor& from, std::span<float> into) {
  const auto here = from.to(torch::kCPU, torch::kFloat32).contiguous();
  std::memcpy(into.data(), here.data_ptr<float>(), into.size_bytes());
}

} // namespace

torch_row::torch_row(const open_job& job,
                     std::shared_ptr<const gpu::model> model,
                     ipc::slot_store& slots, prompt_cache& prompts,
                     source_cache& sources, const memory_probe& memory,
                     std::optional<uint64_t> free, uint64_t number)
  : job_(job),
    model_(std::move(model)),
    slots_(slots),
    number_(number),
    memory_(memory) {
  if (!model_) {
    fail(core::fail(core::ec::not_found, "variant {} is not hosted here",
                    job_.recipe.variant.value));
    return;
  }
  auto opened = with_model_border("opening a row", [&] {
    const c10::InferenceMode guard;
    read(prompts, sources, free);
    return true;
  });
  if (!opened)
    fail(std::move(opened).why());
}

void torch_row::read(prompt_cache& prompts, source_cache& sources,
                     std::optional<uint64_t> free) {
  const auto& how = job_.recipe;
  if (free)
    expect_memory(*free);
  if (job_.source)
    read_source(sources);
  auto choice = choice_of(how);
  // The web UI's masked edits start from the image, too.
  choice.from_clean =
    clean_.defined()
    && (!mask_.defined() || how.strength_rule == core::strength_rule::webui);
  plan_ = taken(plan_sampler(model_->schedule(), choice));
  taken(slots_.buffer(job_.state));

  std::vector<std::byte> bytes;
  const auto seq = taken(slots_.read(job_.from, bytes));
  const auto parts = taken(parse_state(bytes));
  const auto& head = parts.head;
  taken(is_of_publication(head, seq));
  const auto factor = model_->vae().factor();
  const std::vector<int64_t> shape{
    static_cast<int64_t>(model_->vae().config().latent_channels),
    (how.px.height + factor - 1) / factor,
    (how.px.width + factor - 1) / factor};
  if (shape != std::vector<int64_t>{head.channels, head.height, head.width})
    throw model_error{core::fail(core::ec::bad_payload,
                                 "the state's latent is [{}, {}, {}], not "
                                 "[{}, {}, {}]",
                                 head.channels, head.height, head.width,
                                 shape[0], shape[1], shape[2])};
  taken(model_->accepts(how.px));
  if (head.steps_done > plan_.steps.size())
    throw model_error{core::fail(core::ec::bad_payload,
                                 "a state after {} steps for a run of {}",
                                 head.steps_done, plan_.steps.size())};
  const auto device = model_->where().device;
  steps_done_ = head.steps_done;
  x_ = from_span(parts.latent, shape, device);
  noise_.emplace(how.noise, how.seed, head.generator_counter);
  if (plan_.needs_last && steps_done_ > 0) {
    if (parts.history.size() != parts.latent.size_bytes())
      throw model_error{core::fail(
        core::ec::bad_payload, "the state's history has {} bytes, not {}",
        parts.history.size(), parts.latent.size_bytes())};
    last_ = from_span({reinterpret_cast<const float*>(parts.history.data()),
                       parts.latent.size()},
                      shape, device);
  }
  if (steps_done_ == 0)
    start();

  encode_texts(prompts);
  make_notes();
}

void torch_row::encode_texts(prompt_cache& prompts) {
  const auto& how = job_.recipe;
  prompt_text said{job_.text.positive, false, how.syntax, how.emphasis,
                   how.clip_skip};
  positive_ = prompts.find(model_, said);
  if (how.guidance <= 1 || model_->embeds_guidance())
    return;
  said.text = job_.text.negative;
  said.negative = true;
  negative_ = prompts.find(model_, said);
}

void torch_row::read_source(source_cache& sources) {
  const auto bytes = taken(slots_.view(job_.source));
  const auto parts = taken(parse_source(bytes));
  const auto& px = job_.recipe.px;
  if (parts.px != px)
    throw model_error{core::fail(
      core::ec::bad_payload, "the source has {}x{} pixels, not {}x{}",
      parts.px.width, parts.px.height, px.width, px.height)};
  const auto device = model_->where().device;
  const int64_t h = px.height;
  const int64_t w = px.width;
  source_ = pixels_on(device, px, parts.pixels);

  // The first values are for the encoder's own draw, if it has a distribution,
  // and the later ones are the initial noise: the order in which diffusers'
  // pipelines draw.
  row_noise first{job_.recipe.noise, job_.recipe.seed};
  const auto encoded = sources.encoded();
  const auto begin = core::time_point::clock::now();
  const auto& said = sources.find(model_, px, parts.pixels);
  if (sources.encoded() != encoded) {
    if (device.is_cuda())
      torch::cuda::synchronize(device.index());
    encoding_ = core::time_point::clock::now() - begin;
  }
  auto drawn = said.mean.to(torch::kFloat32);
  if (job_.recipe.samples_source) {
    auto posterior = torch::empty(said.mean.sizes(), torch::kFloat32);
    first.draw(
      {posterior.data_ptr<float>(), static_cast<size_t>(posterior.numel())});
    const auto deviation =
      said.log_variance.to(torch::kFloat32).mul(0.5).exp_();
    drawn = drawn + deviation * posterior.to(device);
  }
  clean_ = model_->vae().to_latent(drawn).to(torch::kFloat32).squeeze(0);
  if (!clean_.isfinite().all().item<bool>())
    throw model_error{
      core::fail(core::ec::internal,
                 "the encoded image holds values that are not numbers; "
                 "in float16 some autoencoders overflow: use f32 or bf16")};
  auto noise = torch::empty(clean_.sizes(), torch::kFloat32);
  first.draw({noise.data_ptr<float>(), static_cast<size_t>(noise.numel())});
  first_noise_ = noise.to(device);

  if (parts.mask.empty())
    return;
  auto mask = torch::empty({1, h, w}, torch::kUInt8);
  std::memcpy(mask.data_ptr<uint8_t>(), parts.mask.data(), parts.mask.size());
  image_mask_ = mask.to(device).to(torch::kFloat32).div(255);
  mask_ = latent_mask(image_mask_, clean_.size(1), clean_.size(2));
}

void torch_row::start() {
  // The state holds only the initial noise.
  if (clean_.defined())
    x_ = clean_ * plan_.start_clean + x_ * plan_.start_noise;
  else
    x_ = x_ * plan_.start_noise;
}

uint32_t torch_row::steps_left() const {
  return static_cast<uint32_t>(plan_.steps.size()) - steps_done_;
}

const step_rule& torch_row::rule() const {
  return plan_.steps[steps_done_];
}

torch::Tensor torch_row::draw() {
  if (!drawn_.defined())
    drawn_ = torch::empty(x_.sizes(), torch::kFloat32);
  if (drawn_for_ != steps_done_)
    noise_->draw(
      {drawn_.data_ptr<float>(), static_cast<size_t>(drawn_.numel())});
  drawn_for_ = steps_done_;
  return drawn_.to(x_.device());
}

bool torch_row::due(uint32_t step) const {
  return step == plan_.steps.size()
      || (job_.publish_every > 0 && step % job_.publish_every == 0);
}

void torch_row::accept(const torch::Tensor& next, const torch::Tensor& x0) {
  const auto& used = rule();
  // Copies the row: a view would keep the whole batch alive.
  if (mask_.defined())
    x_ = mask_ * next
       + (1 - mask_)
           * (clean_ * used.keep_clean + first_noise_ * used.keep_noise);
  else
    x_ = next.clone();
  if (plan_.needs_last)
    last_ = x0.clone();
  ++steps_done_;
  if (due(steps_done_))
    publish(x0);
  for (const auto& x : job_.captures)
    if (x.steps == steps_done_)
      capture(x.into);
}

core::latent_shape torch_row::shape() const {
  return {static_cast<uint32_t>(x_.size(0)), static_cast<uint32_t>(x_.size(1)),
          static_cast<uint32_t>(x_.size(2))};
}

size_t torch_row::state_size() const {
  const auto latent = shape();
  return state_bytes(latent,
                     last_.defined() ? latent.elements() * sizeof(float) : 0);
}

void torch_row::write_state(std::span<std::byte> into,
                            const state_preview& preview) const {
  std::vector<float> history;
  if (last_.defined()) {
    history.resize(shape().elements());
    copy_out(last_, history);
  }
  const auto latent =
    taken(begin_state(into, shape(), steps_done_, noise_->position(),
                      std::as_bytes(std::span{history}), preview));
  copy_out(x_, latent);
  if (!std::ranges::all_of(latent, [](float x) { return std::isfinite(x); }))
    throw model_error{
      core::fail(core::ec::internal,
                 "the latent holds values that are not numbers after {} steps",
                 steps_done_)};
}

void torch_row::publish(const torch::Tensor& x0) {
  const auto into = taken(slots_.buffer(job_.state));
  const auto bytes = state_size();
  torch::Tensor drawn;
  state_preview preview;
  if (wants_preview(job_, steps_done_, core::steps_to_run(job_.recipe))
      && bytes < into.size())
    drawn = model_->preview().draw(
      x0, static_cast<int64_t>((into.size() - bytes) / 3));
  if (drawn.defined())
    preview = {{static_cast<uint32_t>(drawn.size(1)),
                static_cast<uint32_t>(drawn.size(0))},
               {drawn.data_ptr<uint8_t>(), static_cast<size_t>(drawn.numel())}};
  write_state(into, preview);
  taken(slots_.publish(job_.state, uint64_t{steps_done_} + 1,
                       bytes + preview.rgb.size()));
  published_ = true;
}

void torch_row::capture(const ipc::slot_ref& into) {
  const auto kept = with_model_border("keeping a state", [&] {
    write_state(taken(slots_.buffer(into)));
    taken(slots_.publish(into, 1, state_size()));
    captured_.push_back(steps_done_);
    return true;
  });
  if (!kept)
    core::log_warn("request {}: its state after {} steps is not kept: {}",
                   job_.ticket.id.value, steps_done_, kept.why().text);
}

decode_need torch_row::need() const {
  const auto& vae = model_->vae();
  const auto& px = job_.recipe.px;
  const uint64_t factor = vae.factor();
  return {(px.height + factor - 1) / factor,
          (px.width + factor - 1) / factor,
          factor,
          decode_bytes(vae.config(), vae.where()),
          image_bytes,
          static_cast<uint64_t>(vae.tile_multiple())};
}

void torch_row::refuse(const char* what, uint64_t bytes, uint64_t free) const {
  const auto& px = job_.recipe.px;
  throw model_error{
    core::fail(core::ec::out_of_resources,
               "an image of {}x{} pixels: {} needs {} MiB, but {} MiB are free",
               px.width, px.height, what, bytes >> 20, free >> 20)};
}

uint64_t torch_row::expect_decoding(uint64_t free) const {
  const auto of = need();
  const auto side = tile_side(of, free);
  if (job_.recipe.deterministic && side != 0)
    refuse("decoding it whole, as it is deterministic,", bytes_to_decode(of, 0),
           free);
  if (!side)
    refuse("decoding it in tiles", bytes_to_decode(of, least_tile), free);
  return *side;
}

void torch_row::expect_memory(uint64_t free) const {
  expect_decoding(free);
  if (!job_.source)
    return;
  const auto& vae = model_->vae();
  auto encoded = need();
  encoded.bytes_per_element = encode_bytes(vae.config(), vae.where());
  if (const auto bytes = bytes_to_decode(encoded, 0); !fits_memory(bytes, free))
    refuse("encoding its source", bytes, free);
}

void torch_row::begin_decoding() {
  if (!taking_) {
    const auto free = memory_(model_->where().device);
    // The steps are done, so the smallest tiles are tried in any case.
    if (free && job_.recipe.deterministic)
      tile_ = expect_decoding(*free);
    else
      tile_ = free ? tile_side(need(), *free).value_or(least_tile) : 0;
    taking_ = {bytes_to_decode(need(), tile_), free};
  }
  drawing_.emplace(model_->vae(), x_.unsqueeze(0), static_cast<int64_t>(tile_));
}

bool torch_row::shrink_tiles() {
  const auto next = smaller_tile(need(), tile_);
  if (!taking_ || !next || job_.recipe.deterministic)
    return false;
  core::log_warn("request {}: decoding did not fit the memory; it begins anew "
                 "in tiles of {} pixels",
                 job_.ticket.id.value, *next * model_->vae().factor());
  tile_ = *next;
  taking_->bytes = bytes_to_decode(need(), tile_);
  drawing_.reset();
  return true;
}

void torch_row::end_decoding() {
  drawing_.reset();
  taking_.reset();
}

std::optional<core::result<decoded_row>> torch_row::decode_part(
  const image_judge* judge) {
  if (failure_.code != core::ec::none)
    return failure_;
  std::optional<decoded_row> done;
  auto went = with_model_border("decoding an image", [&] {
    const c10::InferenceMode guard;
    if (!drawing_)
      begin_decoding();
    if (auto pixels = drawing_->next()) {
      end_decoding();
      done = write(*std::move(pixels), judge);
    } else if (x_.is_cuda()) {
      // Otherwise the next step would wait for parts that were not measured.
      torch::cuda::synchronize(x_.device().index());
    }
    return true;
  });
  if (!went) {
    if (went.why().code == core::ec::out_of_resources && shrink_tiles())
      return std::nullopt;
    end_decoding();
    return std::move(went).why();
  }
  if (!done)
    return std::nullopt;
  return *done;
}

decoded_row torch_row::write(torch::Tensor pixels, const image_judge* judge) {
  const auto into = taken(slots_.buffer(job_.image));
  const auto& px = job_.recipe.px;
  const auto kept = kept_source();
  const size_t pixel_bytes = px.pixels() * 3;
  const size_t bytes = drawn_bytes(px, kept.px);
  if (bytes > into.size())
    throw model_error{
      core::fail(core::ec::out_of_resources,
                 "an image of {} bytes does not fit its slot of {} bytes",
                 bytes, into.size())};
  pixels = pixels.squeeze(0).slice(1, 0, px.height).slice(2, 0, px.width);
  // A value that is not a number becomes both of these.
  const auto [least, most] = at::aminmax(pixels);
  if (!std::isfinite(least.item<float>()) || !std::isfinite(most.item<float>()))
    throw model_error{
      core::fail(core::ec::internal,
                 "the image holds values that are not numbers; "
                 "in float16 some autoencoders overflow: use f32 or bf16")};
  pixels.div_(2).add_(0.5).clamp_(0, 1).mul_(255).round_();
  if (image_mask_.defined())
    pixels =
      torch::where(image_mask_ > 0.5, pixels, source_.to(torch::kFloat32));
  const auto out =
    pixels.to(torch::kUInt8).permute({1, 2, 0}).to(torch::kCPU).contiguous();
  auto* const to = into.data();
  std::memcpy(to, out.data_ptr<uint8_t>(), pixel_bytes);
  if (!kept.mask.empty()) {
    std::memcpy(to + pixel_bytes, kept.pixels.data(), kept.pixels.size());
    std::memcpy(to + pixel_bytes + kept.pixels.size(), kept.mask.data(),
                kept.mask.size());
  }
  taken(slots_.publish(job_.image, 1, bytes));
  return {bytes, judge ? scored_by(*judge, pixels) : 0.0};
}

double torch_row::scored_by(const image_judge& judge,
                            const torch::Tensor& pixels) const {
  const auto said = with_model_border("judging an image", [&] {
    return judge.score(pixels,
                       core::words_of(job_.text.positive, job_.recipe.syntax));
  });
  // The image exists, so a failing judge is not an error.
  if (said && std::isfinite(*said))
    return *said;
  core::log_error("judge '{}': {}", job_.judge,
                  said ? "its score is not a number" : said.why().text);
  return planning::unjudged;
}

kept_parts torch_row::kept_source() const {
  if (!job_.source)
    return {};
  return taken(parse_source(taken(slots_.view(job_.source)))).kept;
}

row_report torch_row::report() {
  row_report out{job_.ticket, steps_done_, published_, failure_};
  out.captured = std::exchange(captured_, {});
  out.encoding = std::exchange(encoding_, core::timespan{0});
  if (failure_.code == core::ec::none)
    out.notes = std::exchange(notes_, {});
  return out;
}

void torch_row::make_notes() {
  const auto add = [&](prompt_side side, const condition& x) {
    if (x.left_out > 0)
      notes_.push_back(note_on_cut(side, x.left_out));
    notes_.insert(notes_.end(), x.notes.begin(), x.notes.end());
  };
  notes_ = notes_on_run(job_.recipe, model_->native_px(), model_->traits());
  if (auto x = note_on_sampler(job_.recipe, model_->schedule()))
    notes_.push_back(*std::move(x));
  add(prompt_side::positive, positive_);
  add(prompt_side::negative, negative_);
}

} // namespace atelier::gpu::detail
