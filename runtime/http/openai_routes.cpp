// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs/encoded_previews.hpp>
#include <atelier/runtime/http/detail/jobs/event_feed.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>
#include <atelier/runtime/http/detail/openai_call.hpp>
#include <atelier/runtime/http/detail/openai_reply.hpp>
#include <atelier/runtime/http/openai_routes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace atelier::runtime::http {

namespace {

using detail::openai_kind;
using exchange_ptr = std::shared_ptr<exchange>;

constexpr auto shape = error_shape::openai;

struct openai_api {
  std::shared_ptr<jobs> all;
  api_context context;
  /// Creation time that all models report: when this server started.
  int64_t began = 0;

  void make(const exchange_ptr& x, openai_kind kind) const;
  void list_models(const exchange_ptr& x) const;
  void look_at_model(const exchange_ptr& x) const;
  void fetch(const exchange_ptr& x) const;

  /// Returns a function that calls `then` with an ended job and the bytes of
  /// its images, which may be in files if the call is a repeated one.
  std::function<void(const job_view&)> with_whole(
    const exchange_ptr& x, std::function<void(const job_view&)> then) const;
};

std::function<void(const job_view&)> openai_api::with_whole(
  const exchange_ptr& x, std::function<void(const job_view&)> then) const {
  // A listener must not keep the jobs alive.
  return [jobs = std::weak_ptr{all}, with = context, x,
          then = std::move(then)](const job_view& v) {
    if (!lacks_bytes(v))
      return then(v);
    detail::run_at_files(with, x, shape, [jobs, v, then] {
      const auto alive = jobs.lock();
      auto whole = alive ? alive->with_bytes(v) : v;
      if (!alive || whole.expired) {
        whole.state = job_state::failed;
        whole.why = {"internal", "an image of the earlier call is gone", {}};
      }
      then(whole);
    });
  };
}

void reply_with(const exchange_ptr& x, const job_view& v,
                const detail::openai_echo& how) {
  x->reply(v.state == job_state::completed
             ? detail::openai_reply(v, how)
             : detail::failure_reply(shape, v.why));
}

/// The events of one call.
struct openai_stream : std::enable_shared_from_this<openai_stream> {
  openai_stream(exchange_ptr to,
                std::weak_ptr<detail::encoded_previews> encoder,
                std::string kind, uint32_t most, detail::openai_echo echoed)
    : feed(std::move(to)),
      previews(std::move(encoder)),
      type(std::move(kind)),
      most_partial(most),
      echo(std::move(echoed)) {}

  detail::event_feed feed;
  const std::weak_ptr<detail::encoded_previews> previews;
  /// image_generation or image_edit.
  const std::string type;
  const uint32_t most_partial;
  const detail::openai_echo echo;
  // Only the callbacks for news use these members, one call at a time.
  std::shared_ptr<const preview> seen;
  uint32_t partial = 0;

  void progressed(const job_view& v) {
    const auto encoder = previews.lock();
    if (!v.seen || v.seen == seen || partial == most_partial || !encoder)
      return;
    seen = v.seen;
    const auto name = type + ".partial_image";
    encoder->get(v.seen, echo.format,
                 [me = shared_from_this(), place = feed.reserve(name), name, v,
                  number = partial++](const auto& x) {
                   if (x == nullptr)
                     return me->feed.leave_out(place);
                   me->feed.fill(place, detail::partial_image_event(
                                          name, v, number, me->echo, *x));
                 });
  }

  void ended(const job_view& v) {
    const auto name = type + ".completed";
    if (v.state == job_state::completed)
      feed.send(name, detail::completed_event(name, v, echo));
    else
      feed.send("error", detail::error_event(v.why));
    feed.close();
  }
};

void openai_api::make(const exchange_ptr& x, openai_kind kind) const {
  auto read = detail::read_openai_call(*x, kind, context);
  if (auto* faulty = std::get_if<reply_message>(&read))
    return x->reply(std::move(*faulty));
  auto& call = std::get<detail::openai_call>(read);
  auto how = detail::echo_of(call, detail::base_url(x->asked(), context));
  std::shared_ptr<openai_stream> stream;
  job_listener news;
  if (call.stream) {
    stream = std::make_shared<openai_stream>(
      x, context.previews,
      kind == openai_kind::generation ? "image_generation" : "image_edit",
      call.partial_images, std::move(how));
    news.progressed = [stream](const job_view& v) { stream->progressed(v); };
    news.ended =
      with_whole(x, [stream](const job_view& v) { stream->ended(v); });
  } else {
    news.ended = with_whole(x, [x, how = std::move(how)](const job_view& v) {
      reply_with(x, v, how);
    });
  }
  const auto got = all->attend(std::move(call.job), std::move(news));
  if (const auto* why = std::get_if<failure>(&got))
    return x->reply(detail::refusal_reply(shape, *why));
  detail::note_handed_in(context, x->asked());
  if (stream)
    stream->feed.open();
  x->on_gone([all = std::weak_ptr{all},
              number = std::get<jobs::attendance>(got).number] {
    if (const auto alive = all.lock())
      alive->abandon(number);
  });
}

/// Returns each kind of words, and the synonyms.
detail::reply_json vocabulary_json(const std::vector<word_group>& from) {
  detail::reply_json out;
  auto synonyms = detail::reply_json::object();
  for (const auto& x : from) {
    out[x.name] = x.words;
    for (const auto& [word, meaning] : x.also)
      synonyms[word] = meaning;
  }
  out["synonyms"] = std::move(synonyms);
  return out;
}

detail::reply_json model_json(const std::vector<variant_status>& known,
                              const std::string& name, int64_t began) {
  auto variants = detail::reply_json::array();
  for (const auto& v : known)
    if (v.model == name)
      variants.push_back({{"name", v.name},
                          {"steps", v.steps},
                          {"guidance", v.guidance},
                          {"sampler", v.sampler},
                          {"width", v.width},
                          {"height", v.height},
                          {"native_only", v.native_only}});
  detail::reply_json out{{"id", name},
                         {"object", "model"},
                         {"created", began},
                         {"owned_by", "atelier"},
                         {"variants", variants}};
  const auto own = std::find_if(known.begin(), known.end(), [&](const auto& v) {
    return v.model == name && v.vocabulary;
  });
  if (own != known.end())
    out["vocabulary"] = vocabulary_json(*own->vocabulary);
  return out;
}

void openai_api::list_models(const exchange_ptr& x) const {
  auto data = detail::reply_json::array();
  const auto known = context.images->variants();
  std::vector<std::string> told;
  for (const auto& v : known) {
    if (std::find(told.begin(), told.end(), v.model) != told.end())
      continue;
    told.push_back(v.model);
    data.push_back(model_json(known, v.model, began));
  }
  x->reply(detail::json_reply({{"object", "list"}, {"data", data}}));
}

void openai_api::look_at_model(const exchange_ptr& x) const {
  const auto name = find_field(x->asked().parts, "id");
  const auto known = context.images->variants();
  if (known.empty())
    return x->reply(error_reply(shape, starting_failure()));
  for (const auto& v : known)
    if (v.model == name)
      return x->reply(detail::json_reply(model_json(known, v.model, began)));
  if (detail::is_openai_name(name)) {
    const auto& first = known.front().model;
    auto v = model_json(known, first, began);
    v["id"] = name;
    v["stands_for"] = first;
    return x->reply(detail::json_reply(v));
  }
  std::string names;
  for (const auto& v : known)
    if (names.find("'" + v.model + "'") == std::string::npos)
      names += (names.empty() ? "'" : ", '") + v.model + "'";
  x->reply(error_reply(shape, 404, "model_not_found",
                       fmt::format("model not found: '{}' (available: {})",
                                   name.substr(0, 128), names),
                       "model"));
}

/// Sends an image. It needs no key, as the pages that show an image have none
/// to send: the name in the address cannot be guessed.
void openai_api::fetch(const exchange_ptr& x) const {
  const std::string_view id = find_field(x->asked().parts, "id");
  // The exchange keeps the text that `id` refers to.
  const auto none = [x, id](unsigned status, std::string_view code,
                            std::string_view why) {
    x->reply(error_reply(shape, status, code,
                         fmt::format("{}: '{}'", why, id.substr(0, 128))));
  };
  const auto dash = std::min(id.rfind('-'), id.size());
  const std::string job{id.substr(0, dash)};
  const auto digits = id.substr(std::min(id.size(), dash + 1));
  uint32_t index = 0;
  const auto [end, fault] =
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (!job.starts_with("job_") || fault != std::errc{}
      || end != digits.data() + digits.size())
    return none(404, "not_found", "image not found");
  // A name that the server chose belongs to only one key.
  const auto found = all->find_all(job);
  const auto v = found.empty() ? std::nullopt : std::optional{found.front()};
  if ((!v && all->forgotten_of_anyone(job)) || (v && v->expired))
    return none(410, "expired", "image expired");
  if (!v || index >= v->results.size() || !v->results[index])
    return none(404, "not_found", "image not found");
  auto tell = [all = all, x, v = *v, index, none] {
    const auto whole = all->with_bytes(v);
    if (whole.expired)
      return none(410, "expired", "image expired");
    const auto& p = *whole.results[index];
    reply_message reply;
    reply.content_type = detail::content_type_of(p.format);
    reply.headers.emplace_back("Cache-Control", "private");
    reply.body.assign(p.bytes.begin(), p.bytes.end());
    x->reply(std::move(reply));
  };
  if (lacks_bytes(*v))
    detail::run_at_files(context, x, shape, std::move(tell));
  else
    tell();
}

} // namespace

void add_openai_routes(route_table& to, std::shared_ptr<jobs> all,
                       api_context with) {
  const auto began = detail::unix_seconds(with.wall());
  const auto api = std::make_shared<const openai_api>(
    openai_api{std::move(all), std::move(with), began});
  const auto add = [&](const char* method, const char* pattern, scope needs,
                       handler answer) {
    to.add({method, pattern, needs, shape, std::move(answer)});
  };
  for (const auto& [pattern, kind] :
       {std::pair{"/v1/images/generations", openai_kind::generation},
        std::pair{"/v1/images/edits", openai_kind::edit},
        std::pair{"/v1/images/variations", openai_kind::variation}})
    add(
      "POST", pattern, scope::user, [api, kind = kind](const exchange_ptr& x) {
        // Only edits have a mask, whose pixels are read on another thread.
        if (kind != openai_kind::edit)
          return api->make(x, kind);
        detail::run_unless_gone(api->context, x, shape,
                                [api, x] { api->make(x, openai_kind::edit); });
      });
  add("GET", "/v1/images/{id}/content", scope::anyone,
      [api](const exchange_ptr& x) { api->fetch(x); });
  add("GET", "/v1/models", scope::user,
      [api](const exchange_ptr& x) { api->list_models(x); });
  add("GET", "/v1/models/{id}", scope::user,
      [api](const exchange_ptr& x) { api->look_at_model(x); });
}

} // namespace atelier::runtime::http
