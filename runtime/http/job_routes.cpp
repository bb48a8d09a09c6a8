// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>
#include <atelier/runtime/http/detail/jobs/job_json.hpp>
#include <atelier/runtime/http/detail/jobs/job_stream.hpp>
#include <atelier/runtime/http/job_routes.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace atelier::runtime::http {

namespace {

using detail::field_reader;
using detail::image_form;
using exchange_ptr = std::shared_ptr<exchange>;

constexpr auto shape = error_shape::openai;

reply_message no_such_job(std::string_view id) {
  return error_reply(shape, 404, "not_found",
                     fmt::format("job not found: '{}'", id.substr(0, 128)));
}

reply_message gone(std::string_view id) {
  return error_reply(
    shape, 410, "expired",
    fmt::format("job expired: '{}'; its images are no longer kept",
                id.substr(0, 128)));
}

/// Refuses a page of the list: the job before it is unknown.
reply_message no_such_page(std::string_view after) {
  return error_reply(shape, 404, "not_found",
                     fmt::format("after '{}' is not a known job of the list; "
                                 "list again without it",
                                 after.substr(0, 128)),
                     "after");
}

/// Refuses a stream that would end because it begins with more than may wait
/// for its client.
reply_message too_much_at_once(uint64_t bytes, uint64_t limit) {
  constexpr auto mib = 1024.0 * 1024.0;
  return error_reply(
    shape, 400, "invalid_argument",
    fmt::format("images 'b64_json': the finished images of the job are {:.1f} "
                "MiB of events, above the {:.1f} MiB that may wait for a "
                "client (http.unsent_mib); ask with images=url, and for each "
                "image by its URL",
                static_cast<double>(bytes) / mib,
                static_cast<double>(limit) / mib),
    "images");
}

/// The handlers and the objects that they share.
struct job_api {
  std::shared_ptr<jobs> all;
  api_context context;
  std::shared_ptr<detail::encoded_images> encoded;

  /// Returns the job that the path names, or replies why not.
  std::optional<job_view> find(exchange& x) const {
    const auto& asked = x.asked();
    const std::string id{find_field(asked.parts, "id")};
    auto found = detail::find_job(*all, asked, id);
    if (!found)
      x.reply(detail::is_forgotten(*all, asked, id) ? gone(id)
                                                    : no_such_job(id));
    return found;
  }

  void submit(const exchange_ptr& x) const;
  void look(const exchange_ptr& x) const;
  void list(const exchange_ptr& x) const;
  void cancel(const exchange_ptr& x) const;
  void remove(const exchange_ptr& x) const;
  void cancel_image(const exchange_ptr& x) const;
  void listen(const exchange_ptr& x) const;
  void fetch(const exchange_ptr& x) const;

  void read(field_reader& r, job_request& into) const;

  /// Calls `then` with the bytes of all images of the job, or replies that
  /// they are gone.
  void with_whole(const exchange_ptr& x, const job_view& v,
                  std::function<void(const job_view&)> then) const {
    auto read = [all = all, x, v, then = std::move(then)] {
      const auto whole = all->with_bytes(v);
      if (whole.expired)
        return x->reply(gone(whole.id));
      then(whole);
    };
    if (lacks_bytes(v))
      detail::run_at_files(context, x, shape, std::move(read));
    else
      read();
  }
};

/// Returns the form of images that the query names, or nothing if its value
/// is invalid.
std::optional<image_form> form_of(const request_message& asked,
                                  image_form otherwise) {
  const auto said = find_field(asked.query, "images");
  if (said.empty())
    return otherwise;
  if (said == "none")
    return image_form::none;
  if (said == "url")
    return image_form::url;
  if (said == "b64_json")
    return image_form::b64_json;
  return std::nullopt;
}

/// Leaves a line in the log if an admin ends another key's work.
void note_cancel(const request_message& asked, const job_view& v) {
  if (const auto name = name_of(v); name.owner != asked.key)
    core::log_warn("admin '{}' at {} cancels a job of '{}': {}", asked.key,
                   asked.client, name.owner, asked.path);
}

/// Returns the index of the image that the path names; none if it is no number.
std::optional<uint32_t> index_of(const request_message& asked) {
  const auto said = find_field(asked.parts, "index");
  uint32_t index = 0;
  const auto [end, fault] =
    std::from_chars(said.data(), said.data() + said.size(), index);
  if (fault != std::errc{} || end != said.data() + said.size())
    return std::nullopt;
  return index;
}

reply_message no_such_form(const request_message& asked) {
  return error_reply(
    shape, 400, "invalid_argument",
    fmt::format("images '{}' is not one of none, url, b64_json",
                find_field(asked.query, "images").substr(0, 60)),
    "images");
}

void job_api::read(field_reader& r, job_request& into) const {
  generation one;
  one.image = r.file("image", context.limits.source_bytes);
  one.mask = r.file("mask", context.limits.source_bytes);
  if (one.image.empty() && !one.mask.empty())
    r.refuse("mask", "mask needs an image");
  detail::read_generation(r, context, one);
  if (const auto format = r.choice("format", {"png", "jpeg", "webp"}))
    one.format = *format;
  if (const auto quality = r.whole("quality", 1, 100))
    one.quality = static_cast<uint32_t>(*quality);
  const auto n = r.whole("n", 1, context.images_of_call).value_or(1);
  if (r.flag("previews").value_or(false) && one.preview_every == 0)
    // A job has about eight previews, whatever its number of steps.
    one.preview_every =
      std::max(1u, detail::steps_that_run(context.images->variants(), one) / 8);
  into.id = r.text("id", 128).value_or("");
  r.no_others();
  into.kind = one.image.empty() ? "generation"
            : one.mask.empty()  ? "variation"
                                : "edit";
  if (r.good())
    into.images =
      detail::spread(r, context, std::move(one), static_cast<uint32_t>(n));
}

/// Returns the reply for a job that was not accepted.
reply_message refusal(const failure& why) {
  if (why.code != jobs::not_journalled)
    return detail::refusal_reply(shape, why);
  auto reply = error_reply(shape, 507, why.code, why.text);
  add_retry_after(reply, why.retry_after);
  return reply;
}

void job_api::submit(const exchange_ptr& x) const {
  const auto& asked = x->asked();
  job_request what;
  what.owner = asked.key;
  what.trace = asked.trace;
  what.request_id = asked.request_id;
  what.keeps = true;
  if (auto faulty = detail::read_idempotency_key(asked, shape, what))
    return x->reply(std::move(*faulty));
  if (!what.idempotency_key.empty())
    what.fingerprint = core::sha256_hex(asked.body);
  auto object = detail::parse_object(asked.body);
  if (!object)
    return x->reply(error_reply(shape, 400, core::to_string(object.why().code),
                                object.why().text));
  x->drop_body();
  field_reader r{*object};
  read(r, what);
  if (!r.good())
    return x->reply(detail::fault_reply(shape, r.why()));
  all->take_on(std::move(what), [x, with = context](const auto& got) {
    if (const auto* why = std::get_if<failure>(&got))
      return x->reply(refusal(*why));
    detail::note_handed_in(with, x->asked());
    const auto& taken = std::get<job_view>(got);
    auto v = detail::job_json(taken);
    const auto poll = fmt::format("/v1/jobs/{}", taken.id);
    v["poll_url"] = poll;
    auto reply = detail::json_reply(v, 202);
    reply.headers.emplace_back("Location", poll);
    x->reply(std::move(reply));
  });
}

void job_api::look(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  if (v->expired)
    return x->reply(gone(v->id));
  const auto& asked = x->asked();
  const auto how = form_of(asked, image_form::b64_json);
  if (!how)
    return x->reply(no_such_form(asked));
  const auto said = find_field(asked.query, "preview");
  const bool preview = said == "1" || said == "true";
  const auto tell = [x, how = *how, base = detail::base_url(asked, context),
                     preview](const job_view& seen) {
    reply_message reply;
    reply.body = detail::job_text(seen, how, base, preview);
    x->reply(std::move(reply));
  };
  if (*how != image_form::b64_json)
    return tell(*v);
  with_whole(x, *v, tell);
}

void job_api::list(const exchange_ptr& x) const {
  constexpr uint32_t most = 1000;
  const auto& asked = x->asked();
  const auto said = find_field(asked.query, "limit");
  uint32_t limit = 100;
  if (!said.empty()) {
    const auto [end, fault] =
      std::from_chars(said.data(), said.data() + said.size(), limit);
    if (fault != std::errc{} || end != said.data() + said.size() || limit == 0
        || limit > most)
      return x->reply(
        error_reply(shape, 400, "invalid_argument",
                    fmt::format("limit '{}' is not a whole number in 1..{}",
                                said.substr(0, 60), most),
                    "limit"));
  }
  const auto own = find_field(asked.query, "own");
  if (!own.empty() && own != "true" && own != "false")
    return x->reply(error_reply(
      shape, 400, "invalid_argument",
      fmt::format("own '{}' is not true or false", own.substr(0, 60)), "own"));
  const auto owner = asked.caller == scope::admin && own != "true"
                     ? std::nullopt
                     : std::optional<std::string>{asked.key};
  const std::string after{find_field(asked.query, "after")};
  if (!owner && !after.empty() && find_field(asked.query, "key").empty()
      && all->find_all(after).size() > 1)
    return x->reply(error_reply(
      shape, 400, "invalid_argument",
      fmt::format("after '{}' is a job of several keys: name one with key=NAME",
                  after.substr(0, 128)),
      "key"));
  // One job more than the page has shows whether another page follows.
  std::optional<std::vector<job_view>> found;
  if (after.empty())
    found = all->list(owner, limit + 1);
  else if (const auto last = owner ? all->find({after, *owner})
                                   : detail::find_job(*all, asked, after))
    found = all->list_after(name_of(*last), owner, limit + 1);
  if (!found)
    return x->reply(no_such_page(after));
  const bool more = found->size() > limit;
  if (more)
    found->pop_back();
  auto data = detail::reply_json::array();
  for (const auto& v : *found)
    data.push_back(detail::job_json(v));
  x->reply(detail::json_reply(
    {{"object", "list"}, {"data", data}, {"has_more", more}}));
}

void job_api::cancel(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  if (all->cancel(name_of(*v)) == jobs::cancelled::yes) {
    note_cancel(x->asked(), *v);
    const auto now = all->find(name_of(*v)).value_or(*v);
    return x->reply(detail::json_reply(detail::job_json(now)));
  }
  if (v->expired)
    return x->reply(gone(v->id));
  x->reply(error_reply(shape, 409, "conflict",
                       fmt::format("job '{}' has ended", v->id)));
}

/// Cancels an open job, and removes an ended one with its images.
void job_api::remove(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  if (v->expired || !all->forget(name_of(*v)))
    return cancel(x);
  reply_message reply;
  reply.status = 204;
  reply.content_type.clear();
  x->reply(std::move(reply));
}

void job_api::cancel_image(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  if (v->expired)
    return x->reply(gone(v->id));
  const auto index = index_of(x->asked());
  if (!index || *index >= v->images)
    return x->reply(error_reply(
      shape, 404, "not_found",
      fmt::format("job '{}' has no image '{}'; its images are 0..{}", v->id,
                  find_field(x->asked().parts, "index").substr(0, 20),
                  v->images - 1)));
  if (all->cancel_image(name_of(*v), *index) == jobs::cancelled::yes) {
    note_cancel(x->asked(), *v);
    const auto now = all->find(name_of(*v)).value_or(*v);
    return x->reply(detail::json_reply(detail::job_json(now)));
  }
  x->reply(
    error_reply(shape, 409, "conflict",
                fmt::format("image {} of job '{}' has ended", *index, v->id)));
}

void job_api::listen(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  const auto& asked = x->asked();
  const auto how = form_of(asked, image_form::url);
  if (!how)
    return x->reply(no_such_form(asked));
  const auto begin = [all = all, previews = context.previews, images = encoded,
                      x, how = *how, name = name_of(*v),
                      base = detail::base_url(asked, context)] {
    if (const auto now = all->find(name); now && how == image_form::b64_json) {
      const auto bytes = detail::first_bytes(*now, all->file_sizes(*now));
      if (bytes > x->unread_limit())
        return x->reply(too_much_at_once(bytes, x->unread_limit()));
    }
    const auto stream = std::make_shared<detail::job_stream>(
      x, previews, images, how, base,
      [all = std::weak_ptr{all}](job_view seen) {
        const auto alive = all.lock();
        return alive ? alive->with_bytes(std::move(seen)) : seen;
      });
    const auto me = all->listen(name, stream->listener(stream));
    const auto now = all->find(name);
    if (me == 0 || !now)
      return x->reply(gone(name.id));
    stream->open(*now);
    x->on_gone([all = std::weak_ptr{all}, name, me] {
      if (const auto alive = all.lock())
        alive->leave(name, me);
    });
  };
  // A late subscriber may receive images that are in files.
  if (*how == image_form::b64_json)
    detail::run_at_files(context, x, shape, begin);
  else
    begin();
}

void job_api::fetch(const exchange_ptr& x) const {
  const auto v = find(*x);
  if (!v)
    return;
  if (v->expired)
    return x->reply(gone(v->id));
  const auto index = index_of(x->asked());
  if (!index || *index >= v->results.size() || !v->results[*index])
    return x->reply(error_reply(
      shape, 404, "not_found",
      fmt::format("job '{}' has no image '{}' (yet)", v->id,
                  find_field(x->asked().parts, "index").substr(0, 20))));
  with_whole(x, *v, [x, index = *index](const job_view& whole) {
    const auto& p = *whole.results[index];
    reply_message reply;
    reply.content_type = detail::content_type_of(p.format);
    // Keys may have jobs of the same name, and so the same address.
    reply.headers.emplace_back("Cache-Control", "private, no-store");
    reply.body.assign(p.bytes.begin(), p.bytes.end());
    x->reply(std::move(reply));
  });
}

} // namespace

void add_job_routes(route_table& to, std::shared_ptr<jobs> all,
                    api_context with) {
  const auto api = std::make_shared<const job_api>(
    job_api{std::move(all), std::move(with),
            std::make_shared<detail::encoded_images>()});
  const auto add = [&](const char* method, const char* pattern,
                       void (job_api::*answer)(const exchange_ptr&) const,
                       bool takes_body = false) {
    // Only the submission takes a body, and all others follow jobs or end them.
    to.add({method, pattern, scope::user, shape,
            [api, answer](const exchange_ptr& x) { ((*api).*answer)(x); },
            takes_body, !takes_body});
  };
  add("POST", "/v1/jobs", &job_api::submit, true);
  add("GET", "/v1/jobs", &job_api::list);
  add("GET", "/v1/jobs/{id}", &job_api::look);
  add("DELETE", "/v1/jobs/{id}", &job_api::remove);
  add("POST", "/v1/jobs/{id}/cancel", &job_api::cancel);
  add("GET", "/v1/jobs/{id}/events", &job_api::listen);
  add("GET", "/v1/jobs/{id}/images/{index}", &job_api::fetch);
  add("POST", "/v1/jobs/{id}/images/{index}/cancel", &job_api::cancel_image);
}

} // namespace atelier::runtime::http
