// SPDX-License-Identifier: Apache-2.0
// The file is long because front ends use many routes.
#include <atelier/core/error.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_call.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_lists.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_progress.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_reply.hpp>
#include <atelier/runtime/http/detail/connection/byte_shares.hpp>
#include <atelier/runtime/http/detail/hints.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace atelier::runtime::http {

namespace {

using core::ec;
using detail::a1111_kind;
using detail::a1111_options;
using detail::field_reader;
using detail::reply_json;
using exchange_ptr = std::shared_ptr<exchange>;

constexpr auto shape = error_shape::a1111;

/// The answer to a call whose job has ended, while it is made.
struct ended_call {
  exchange_ptr x;
  job_view v;
  std::shared_ptr<const detail::a1111_call> call;
  std::shared_ptr<const detail::byte_shares::part> held;
  /// Whether the client has left.
  std::shared_ptr<const std::atomic<bool>> gone;
  detail::a1111_reply reply;
  /// The index of the next image.
  size_t next = 0;
};

using ended_call_ptr = std::shared_ptr<ended_call>;

class a1111_api : public std::enable_shared_from_this<a1111_api> {
public:
  a1111_api(std::shared_ptr<jobs> all, api_context with)
    : all_(std::move(all)), with_(std::move(with)) {}

  void make(const exchange_ptr& x, a1111_kind kind);
  void progress(const exchange_ptr& x);
  void task_progress(const exchange_ptr& x);
  void interrupt(const exchange_ptr& x);
  void get_options(const exchange_ptr& x);
  void set_options(const exchange_ptr& x);
  void png_info(const exchange_ptr& x);

  std::vector<variant_status> variants() const {
    return with_.images->variants();
  }

private:
  void hand_in(const exchange_ptr& x, a1111_kind kind);
  void tell_of_file(const exchange_ptr& x) const;
  /// Answers a call, in a file's or a pixel's turn where it needs these.
  void answer(const ended_call_ptr& to);
  void read_files(const ended_call_ptr& to);
  void add_next(const ended_call_ptr& to);
  void paste_next(const ended_call_ptr& to);
  a1111_options options_of(const std::string& owner);
  void keep_options(const std::string& owner, a1111_options set);
  void read_option(field_reader& r, a1111_options& into) const;

  std::shared_ptr<jobs> all_;
  api_context with_;
  /// The bytes of source images that are held until results are blended in.
  std::shared_ptr<detail::byte_shares> held_ =
    std::make_shared<detail::byte_shares>();
  std::mutex mutex_;
  /// Options by key: what one caller sets does not affect others.
  std::map<std::string, a1111_options> options_;
};

void a1111_api::make(const exchange_ptr& x, a1111_kind kind) {
  if (kind == a1111_kind::txt2img)
    return hand_in(x, kind);
  detail::run_unless_gone(with_, x, shape, [me = shared_from_this(), x, kind] {
    me->hand_in(x, kind);
  });
}

void a1111_api::hand_in(const exchange_ptr& x, a1111_kind kind) {
  const auto& asked = x->asked();
  auto read = detail::read_a1111_call(*x, kind, options_of(asked.key), with_);
  if (auto* faulty = std::get_if<reply_message>(&read))
    return x->reply(std::move(*faulty));
  const auto call = std::make_shared<detail::a1111_call>(
    std::move(std::get<detail::a1111_call>(read)));
  std::shared_ptr<detail::byte_shares::part> held;
  if (call->plan) {
    held = std::make_shared<detail::byte_shares::part>(
      held_, asked.key,
      detail::byte_shares::limits_of(with_.limits.sources_bytes,
                                     with_.limits.source_bytes));
    const auto bytes = call->plan->image.size() + call->plan->mask.size();
    if (!held->grow(bytes))
      return x->reply(detail::failure_reply(
        shape,
        to_failure(core::fail(ec::overloaded,
                              "{} bytes of images wait; {} more would "
                              "be above the limit of {}, or above the "
                              "key's share of it",
                              held_->held(), bytes, with_.limits.sources_bytes),
                   std::chrono::seconds{1})));
  }
  auto what = std::move(call->job);
  call->job.images.assign(1, what.images.front());
  const auto how =
    std::make_shared<const detail::a1111_echo>(detail::echo_of(*call));
  call->job = {};
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  job_listener news;
  news.ended = [me = weak_from_this(), x, call, how, held,
                gone](const job_view& v) {
    if (const auto alive = me.lock())
      alive->answer(std::make_shared<ended_call>(
        ended_call{x, v, call, held, gone, {how, v.results.size()}}));
  };
  const auto got = all_->attend(std::move(what), std::move(news));
  if (const auto* why = std::get_if<failure>(&got))
    return x->reply(detail::refusal_reply(shape, *why));
  detail::note_handed_in(with_, asked);
  if (call->options)
    keep_options(asked.key, *call->options);
  x->on_gone([all = std::weak_ptr{all_}, gone,
              number = std::get<jobs::attendance>(got).number] {
    *gone = true;
    if (const auto alive = all.lock())
      alive->abandon(number);
  });
}

void a1111_api::answer(const ended_call_ptr& to) {
  if (to->v.state == job_state::failed)
    return to->x->reply(detail::failure_reply(shape, to->v.why));
  const auto me = shared_from_this();
  // The images of a repeated call may be in files.
  if (lacks_bytes(to->v))
    detail::run_at_files(with_, to->x, shape, [me, to] { me->read_files(to); });
  else
    add_next(to);
}

void a1111_api::read_files(const ended_call_ptr& to) {
  auto whole = all_->with_bytes(to->v);
  if (!to->v.expired && whole.expired)
    return to->x->reply(detail::failure_reply(
      shape, to_failure(core::fail(ec::internal,
                                   "an image of the earlier call is gone"))));
  to->v = std::move(whole);
  add_next(to);
}

/// Adds the images from the next one on. Each that must be pasted into the
/// client's has a turn of its own, so that other calls have theirs in between.
void a1111_api::add_next(const ended_call_ptr& to) {
  const auto& all = to->v.results;
  for (; to->next < all.size(); ++to->next) {
    if (!all[to->next])
      continue;
    if (to->call->plan)
      return detail::run_elsewhere(
        with_, to->x, shape,
        [me = shared_from_this(), to] { me->paste_next(to); });
    to->reply.add(all[to->next]->bytes);
  }
  to->x->reply(to->reply.finish(to->v));
}

void a1111_api::paste_next(const ended_call_ptr& to) {
  // A drawn image has no deadline: only a client that has left ends this.
  const auto stop = [gone = to->gone] { return gone->load(); };
  auto whole = stop() ? core::result<std::vector<uint8_t>>{core::fail(
                 ec::cancelled, "the client left")}
                      : detail::paste_back(*to->call->plan, with_.limits,
                                           *to->v.results[to->next],
                                           to->call->quality, stop);
  if (!whole)
    return to->x->reply(detail::failure_reply(shape, to_failure(whole.why())));
  to->reply.add(*whole);
  ++to->next;
  add_next(to);
}

/// Returns the job that a request names, in its query or body.
std::string job_named(const request_message& asked) {
  for (const auto* name : {"id_task", "force_task_id"})
    if (const auto id = find_field(asked.query, name); !id.empty())
      return std::string{id};
  auto object = detail::parse_object(asked.body);
  if (!object)
    return {};
  field_reader r{*object};
  for (const auto* name : {"id_task", "force_task_id"})
    if (auto id = r.text(name, 128))
      return *id;
  return {};
}

void a1111_api::progress(const exchange_ptr& x) {
  const auto& asked = x->asked();
  const auto skip = find_field(asked.query, "skip_current_image");
  const bool with_image =
    skip.empty() || skip == "false" || skip == "False" || skip == "0";
  x->reply(detail::json_reply(detail::progress_json(
    detail::find_a1111_job(*all_, asked, job_named(asked)), with_image)));
}

void a1111_api::task_progress(const exchange_ptr& x) {
  const auto& asked = x->asked();
  auto object = detail::parse_object(asked.body);
  if (!object)
    return x->reply(error_reply(shape, 400, core::to_string(object.why().code),
                                object.why().text));
  field_reader r{*object};
  const auto id = r.text("id_task", 128).value_or("");
  const auto seen = r.whole("id_live_preview", -1, INT64_MAX).value_or(-1);
  const auto with_image = r.flag("live_preview").value_or(true);
  if (!r.good())
    return x->reply(detail::fault_reply(shape, r.why()));
  const auto v =
    id.empty() ? std::nullopt : detail::find_a1111_job(*all_, asked, id);
  x->reply(detail::json_reply(detail::task_progress_json(
    v, !v && detail::is_forgotten(*all_, asked, id), seen, with_image)));
}

void a1111_api::interrupt(const exchange_ptr& x) {
  const auto& asked = x->asked();
  if (const auto v = detail::find_a1111_job(*all_, asked, job_named(asked)))
    all_->cancel(name_of(*v));
  x->reply(detail::json_reply(reply_json::object()));
}

a1111_options a1111_api::options_of(const std::string& owner) {
  const std::lock_guard guard{mutex_};
  const auto i = options_.find(owner);
  return i == options_.end() ? a1111_options{} : i->second;
}

void a1111_api::keep_options(const std::string& owner, a1111_options set) {
  const std::lock_guard guard{mutex_};
  options_[owner] = std::move(set);
}

void a1111_api::get_options(const exchange_ptr& x) {
  const auto set = options_of(x->asked().key);
  const auto known = variants();
  const auto model = !set.sd_model_checkpoint.empty() ? set.sd_model_checkpoint
                   : known.empty()                    ? std::string{}
                                                      : known.front().model;
  reply_json all{
    {"sd_model_checkpoint", model},
    {"sd_checkpoint_hash", ""},
    {"sd_vae", "Automatic"},
    {"CLIP_stop_at_last_layers", 1},
    {"emphasis", "Original"},
    {"eta_noise_seed_delta", 0},
    {"randn_source", "CPU"},
    {"samples_format", set.samples_format},
    {"jpeg_quality", set.jpeg_quality},
    {"samples_save", false},
    {"enable_pnginfo", true},
    {"live_previews_enable", set.live_previews_enable},
    {"show_progress_every_n_steps", set.show_progress_every_n_steps}};
  for (const auto* const kept : {&set.hints, &set.prompts})
    for (const auto& [name, value] : kept->items())
      all[name] = value;
  x->reply(detail::json_reply(all));
}

void a1111_api::read_option(field_reader& r, a1111_options& into) const {
  if (const auto model = r.text("sd_model_checkpoint", 256)) {
    generation chosen;
    if (!model->empty()
        && !detail::choose_checkpoint(variants(), *model, chosen))
      r.refuse("sd_model_checkpoint",
               fmt::format("sd_model_checkpoint not found: '{}' "
                           "(/sdapi/v1/sd-models lists them)",
                           *model),
               ec::not_found);
    into.sd_model_checkpoint = *model;
  }
  if (const auto format =
        r.choice("samples_format", {"png", "jpg", "jpeg", "webp"}))
    into.samples_format = *format == "jpg" ? "jpeg" : *format;
  if (const auto quality = r.whole("jpeg_quality", 1, 100))
    into.jpeg_quality = static_cast<uint32_t>(*quality);
  into.live_previews_enable =
    r.flag("live_previews_enable").value_or(into.live_previews_enable);
  if (const auto every = r.whole("show_progress_every_n_steps", -1, 1000))
    into.show_progress_every_n_steps =
      *every < 0 ? 0 : static_cast<uint32_t>(*every);
  generation prompts;
  detail::read_prompt_options(r, prompts);
  for (const auto name : detail::a1111_prompt_options)
    if (const auto* value = r.find(name))
      into.prompts[std::string{name}] = *value;
  r.hint("a1111 options");
  for (const auto& x : detail::hints())
    if (x.api == "a1111 options")
      if (const auto* value = r.find(x.field))
        into.hints[std::string{x.field}] = *value;
  r.only("sd_vae", {"Automatic", "None", ""});
  r.only("eta_noise_seed_delta", {0});
}

void a1111_api::set_options(const exchange_ptr& x) {
  const auto& asked = x->asked();
  auto object = detail::parse_object(asked.body);
  if (!object)
    return x->reply(error_reply(shape, 400, core::to_string(object.why().code),
                                object.why().text));
  // Before the engine has started, nothing says whether a model exists.
  if (object->contains("sd_model_checkpoint") && variants().empty())
    return x->reply(error_reply(shape, starting_failure()));
  auto set = options_of(asked.key);
  field_reader r{*object};
  read_option(r, set);
  if (!r.good())
    return x->reply(detail::fault_reply(shape, r.why()));
  keep_options(asked.key, std::move(set));
  x->reply(detail::json_reply(reply_json()));
}

void a1111_api::png_info(const exchange_ptr& x) {
  // Its texts may have to be unpacked. Until its turn the file is the body,
  // which counts as one that is held.
  detail::run_elsewhere(with_, x, shape,
                        [me = shared_from_this(), x] { me->tell_of_file(x); });
}

void a1111_api::tell_of_file(const exchange_ptr& x) const {
  auto object = detail::parse_object(x->asked().body);
  if (!object)
    return x->reply(error_reply(shape, 400, core::to_string(object.why().code),
                                object.why().text));
  x->drop_body();
  field_reader r{*object};
  const auto file = r.file("image", with_.limits.source_bytes);
  if (!r.good())
    return x->reply(detail::fault_reply(shape, r.why()));
  x->reply(detail::json_reply(detail::a1111_png_info(file)));
}

void add_lists(route_table& to, const std::shared_ptr<a1111_api>& api) {
  const auto add = [&](const char* path, auto answer) {
    to.add({"GET", std::string{"/sdapi/v1/"} + path, scope::user, shape,
            [answer](const exchange_ptr& x) {
              x->reply(detail::json_reply(answer()));
            }});
  };
  const auto list = [] { return reply_json::array(); };
  add("samplers", [] { return detail::a1111_samplers(); });
  add("schedulers", [] { return detail::a1111_schedulers(); });
  add("sd-models", [api] { return detail::a1111_models(api->variants()); });
  add("upscalers", [] { return detail::a1111_upscalers(); });
  add("memory", [] { return detail::a1111_memory(); });
  for (const auto* path :
       {"sd-vae", "sd-modules", "latent-upscale-modes", "loras",
        "hypernetworks", "face-restorers", "realesrgan-models", "prompt-styles",
        "script-info", "extensions"})
    add(path, list);
  add("embeddings", [] {
    return reply_json{{"loaded", reply_json::object()},
                      {"skipped", reply_json::object()}};
  });
  add("scripts", [list] {
    return reply_json{{"txt2img", list()}, {"img2img", list()}};
  });
  add("cmd-flags", [] {
    return reply_json{{"api", true}, {"nowebui", true}, {"listen", false}};
  });
}

void add_small_answers(route_table& to) {
  const auto add = [&](const char* path, const reply_message& reply) {
    to.add({"POST", std::string{"/sdapi/v1/"} + path, scope::user, shape,
            [reply](const exchange_ptr& x) { x->reply(reply); }, false});
  };
  // The lists are always current.
  for (const auto* path : {"refresh-checkpoints", "refresh-vae",
                           "refresh-loras", "refresh-embeddings"})
    add(path, detail::json_reply(reply_json()));
  for (const auto* path :
       {"extra-single-image", "extra-batch-images", "interrogate",
        "unload-checkpoint", "reload-checkpoint"})
    add(path, error_reply(shape, 501, "not_supported",
                          fmt::format("{} is not supported", path)));
}

} // namespace

void add_a1111_routes(route_table& to, std::shared_ptr<jobs> all,
                      api_context with) {
  const auto api = std::make_shared<a1111_api>(std::move(all), std::move(with));
  const auto add = [&](const char* method, const char* pattern,
                       void (a1111_api::*answer)(const exchange_ptr&),
                       bool follows = false) {
    to.add({method, pattern, scope::user, shape,
            [api, answer](const exchange_ptr& x) { ((*api).*answer)(x); }, true,
            follows});
  };
  for (const auto& [pattern, kind] :
       {std::pair{"/sdapi/v1/txt2img", a1111_kind::txt2img},
        std::pair{"/sdapi/v1/img2img", a1111_kind::img2img}})
    to.add({"POST", pattern, scope::user, shape,
            [api, kind = kind](const exchange_ptr& x) { api->make(x, kind); }});
  add("GET", "/sdapi/v1/progress", &a1111_api::progress, true);
  add("POST", "/internal/progress", &a1111_api::task_progress, true);
  to.add(
    {"GET", "/internal/ping", scope::user, shape, [](const exchange_ptr& x) {
       x->reply(detail::json_reply(reply_json::object()));
     }});
  add("POST", "/sdapi/v1/interrupt", &a1111_api::interrupt, true);
  add("POST", "/sdapi/v1/skip", &a1111_api::interrupt, true);
  add("GET", "/sdapi/v1/options", &a1111_api::get_options);
  add("POST", "/sdapi/v1/options", &a1111_api::set_options);
  add("POST", "/sdapi/v1/png-info", &a1111_api::png_info);
  add_lists(to, api);
  add_small_answers(to);
}

} // namespace atelier::runtime::http
