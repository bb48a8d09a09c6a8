// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/a1111/alpha_mask.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>
#include <atelier/runtime/http/detail/openai_call.hpp>
#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/multipart.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

constexpr auto shape = error_shape::openai;

using bytes = std::vector<uint8_t>;

/// The body of a call, from JSON or from a form.
struct call_body {
  json object = json::object();
  field_reader::from format = field_reader::from::body;
  /// The files of a form: views into the body of the request.
  std::vector<std::pair<std::string, std::string_view>> files;
};

bool is_file(const form_part& x) {
  return !x.filename.empty() || x.content_type.starts_with("image/")
      || image::recognise(
        {reinterpret_cast<const uint8_t*>(x.content.data()), x.content.size()});
}

core::result<call_body> read_body(exchange& x) {
  const auto& asked = x.asked();
  call_body body;
  const auto type = find_field(asked.headers, "content-type");
  if (!is_multipart(type)) {
    auto object = parse_object(asked.body);
    if (!object)
      return object.why();
    x.drop_body();
    body.object = std::move(*object);
    return body;
  }
  body.format = field_reader::from::form;
  const auto parts = parse_multipart(type, asked.body);
  if (!parts)
    return parts.why();
  for (const auto& part : *parts) {
    auto name = part.name;
    if (name.ends_with("[]"))
      name.resize(name.size() - 2);
    if (is_file(part))
      body.files.emplace_back(std::move(name), part.content);
    else if (!body.object.emplace(name, part.content).second)
      return core::fail(core::ec::bad_payload,
                        "the form has the field {} twice", shown(json(name)));
  }
  return body;
}

/// Reads an image of a JSON body: a text, or {"image_url": text} as in the
/// calls of gpt-image.
bytes image_of(field_reader& r, std::string_view name, const json& x,
               uint64_t most_bytes) {
  const bool wrapped =
    x.is_object() && x.size() == 1 && x.contains("image_url");
  const auto& text = wrapped ? x["image_url"] : x;
  if (!text.is_string()) {
    r.refuse(name, fmt::format("{} {} is neither an image in base64, a data "
                               "URL, nor {{\"image_url\": data URL}}",
                               name, shown(x)));
    return {};
  }
  auto got =
    from_image_text(name, text.get_ref<const std::string&>(), most_bytes);
  if (got && !got->empty())
    return std::move(*got);
  r.refuse(name,
           got ? fmt::format("{} is empty: leave it out or send an image", name)
               : got.why().text);
  return {};
}

/// Takes the file of that name, from the form or from the object. Browsers send
/// an empty part where no file was chosen: it counts as absent.
bytes take_file(field_reader& r, const call_body& body, std::string_view name,
                const core::limits& within) {
  const auto text = r.take(name);
  bytes from_text;
  if (!text.is_null()
      && (body.format == field_reader::from::body || text != ""))
    from_text = image_of(r, name, text, within.source_bytes);
  std::vector<std::string_view> found;
  for (const auto& [of, content] : body.files)
    if (of == name && !content.empty())
      found.push_back(content);
  if (found.empty())
    return from_text;
  if (found.size() > 1 || !from_text.empty()) {
    r.refuse(name,
             fmt::format("{} is sent {} times, but only one is allowed", name,
                         found.size() + (from_text.empty() ? 0 : 1)));
    return {};
  }
  if (found.front().size() > within.source_bytes) {
    r.refuse(name, fmt::format("{} has {} bytes, outside 1..{}", name,
                               found.front().size(), within.source_bytes));
    return {};
  }
  return {found.front().begin(), found.front().end()};
}

/// Takes the one image of the list `images`, which stands for `image`.
void read_image_list(field_reader& r, const core::limits& within,
                     generation& into) {
  constexpr const char* name = "images";
  const auto all = r.take(name);
  if (all.is_null())
    return;
  if (!all.is_array() || all.size() != 1)
    return r.refuse(
      name, fmt::format("images {} is not a list of one image", shown(all)));
  if (!into.image.empty())
    return r.refuse(name, "image and images exclude each other");
  into.image = image_of(r, name, all.front(), within.source_bytes);
}

void read_images(field_reader& r, const call_body& body, openai_kind kind,
                 const api_context& with, generation& into) {
  for (const auto& [name, content] : body.files)
    if (name != "image"
        && (kind == openai_kind::variation
            || (name != "mask" && name != "mask_image")))
      r.refuse(name, fmt::format("{} is not a file of this call", name));
  into.image = take_file(r, body, "image", with.limits);
  read_image_list(r, with.limits, into);
  if (into.image.empty())
    r.refuse("image", "image is missing");
  if (kind == openai_kind::variation)
    return;
  const auto alpha = take_file(r, body, "mask", with.limits);
  into.mask = take_file(r, body, "mask_image", with.limits);
  if (!r.good() || (alpha.empty() && !into.mask.empty()))
    return;
  if (!alpha.empty() && !into.mask.empty())
    return r.refuse("mask", "mask and mask_image exclude each other");
  const decode_time time{with};
  const auto stop = time.is_over();
  auto white = alpha.empty() ? mask_within_image(into.image, with.limits, stop)
                             : white_mask_of(alpha, with.limits, stop);
  if (white)
    into.mask = std::move(*white);
  else
    r.refuse(alpha.empty() ? "image" : "mask", time.text_of(white.why()),
             white.why().code);
}

/// Reads other servers' fields for features that are not supported, and accepts
/// the values that turn them off.
void read_what_is_not_there(field_reader& r) {
  const auto nothing = json::object();
  r.only("true_cfg_scale", {0, 1});
  r.only("flow_shift", {});
  r.only("lora", {"", nothing, json::array()});
  r.only("extra_params", {nothing});
  r.only("diffusers_kwargs", {nothing});
  r.only("nvext", {nothing});
  r.only("reference_image", {""});
  r.only("url", {"", json::array()});
  r.hint("openai");
  r.ignore({"user", "safety_identifier", "moderation", "metadata", "store",
            "save_images", "service_tier"});
}

/// Reads how the images are sent.
void read_output(field_reader& r, openai_call& call, generation& into) {
  if (const auto format = r.choice("output_format", {"png", "jpeg", "webp"}))
    call.format = *format;
  into.format = call.format;
  into.quality = static_cast<uint32_t>(
    std::max<int64_t>(r.whole("output_compression", 0, 100).value_or(100), 1));
  r.only("background", {"auto", "opaque"});
  call.stream = r.flag("stream").value_or(false);
  call.partial_images =
    static_cast<uint32_t>(r.whole("partial_images", 0, 3).value_or(0));
  if (call.partial_images > 0 && !call.stream)
    r.refuse("partial_images", "partial_images needs stream");
  const auto form = r.choice("response_format", {"url", "b64_json"});
  const auto model = r.text("model", 256).value_or("");
  call.as_url =
    form ? *form == "url" : model.starts_with("dall-e-") && !call.stream;
  if (call.as_url && call.stream)
    r.refuse("response_format",
             "response_format url cannot be combined with stream");
}

/// Sets the steps, unless the client did: quality "low" runs half the model's
/// own, but not fewer than four if the model has them. All others keep them.
void read_quality(field_reader& r, const api_context& with, openai_call& call,
                  generation& into) {
  const auto quality =
    r.choice("quality", {"auto", "low", "medium", "high", "standard", "hd"});
  call.quality = quality.value_or("auto");
  if (call.quality != "low" || into.steps || !r.good())
    return;
  const auto known = with.images->variants();
  if (const auto* v = variant_for(known, into))
    into.steps = std::max(v->steps / 2, std::min(v->steps, 4u));
}

} // namespace

std::variant<openai_call, reply_message> read_openai_call(
  exchange& x, openai_kind kind, const api_context& with) {
  const auto& asked = x.asked();
  openai_call call;
  if (auto faulty = read_idempotency_key(asked, shape, call.job))
    return std::move(*faulty);
  if (!call.job.idempotency_key.empty())
    call.job.fingerprint = fingerprint_of(asked);
  auto body = read_body(x);
  if (!body)
    return error_reply(shape, 400, core::to_string(body.why().code),
                       body.why().text);
  field_reader r{body->object, body->format};
  generation one;
  read_generation(r, with, one);
  if (kind == openai_kind::generation)
    for (const auto& [name, content] : body->files)
      r.refuse(name, fmt::format("{} is not a file of this call", name));
  else
    read_images(r, *body, kind, with, one);
  body->files.clear();
  x.drop_body();
  if (kind != openai_kind::variation && r.find("prompt") == nullptr)
    r.refuse("prompt", "prompt is missing");
  if (kind == openai_kind::variation && !one.strength)
    one.strength = 0.6f;
  read_output(r, call, one);
  read_quality(r, with, call, one);
  read_what_is_not_there(r);
  const auto n = r.whole("n", 1, with.images_of_call).value_or(1);
  if (n > 1 && call.stream)
    r.refuse("n", fmt::format("n {} cannot be combined with stream: its events "
                              "do not name their image; ask for one image, "
                              "or leave stream out",
                              n));
  r.no_others();
  note_ignored_fields(r.notes(), one);
  if (r.good() && call.partial_images > 0)
    one.preview_every =
      std::max(1u, steps_that_run(with.images->variants(), one)
                     / (call.partial_images + 1));
  if (r.good())
    call.job.images = spread(r, with, std::move(one), static_cast<uint32_t>(n));
  if (!r.good()) {
    if (r.why().field == "model" && r.why().code == ec::not_found)
      return error_reply(shape, 404, "model_not_found", r.why().text, "model");
    return fault_reply(shape, r.why());
  }
  call.job.kind = kind == openai_kind::generation ? "generation"
                : kind == openai_kind::edit       ? "edit"
                                                  : "variation";
  call.job.owner = asked.key;
  call.job.trace = asked.trace;
  call.job.request_id = asked.request_id;
  call.job.keeps = call.as_url;
  return call;
}

} // namespace atelier::runtime::http::detail
