// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/json_text.hpp>
#include <atelier/core/parameters.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/http/detail/caller_name.hpp>
#include <atelier/runtime/http/detail/connection/origin.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>

namespace atelier::runtime::http::detail {

std::string text_of(const reply_json& x) {
  return core::json_text(x);
}

reply_message json_reply(const reply_json& x, unsigned status) {
  reply_message m;
  m.status = status;
  m.body = text_of(x);
  return m;
}

namespace {

std::string with_member(const reply_json& object, std::string_view name,
                        std::string_view value, std::string_view quote) {
  const auto head = text_of(object);
  std::string text;
  text.reserve(head.size() + name.size() + value.size() + 8);
  text.append(head, 0, head.size() - 1);
  text += head.size() > 2 ? ",\"" : "\"";
  text += name;
  text += "\":";
  text += quote;
  text += value;
  text += quote;
  text += '}';
  return text;
}

} // namespace

std::string with_plain_text(const reply_json& object, std::string_view name,
                            std::string_view value) {
  return with_member(object, name, value, "\"");
}

std::string with_json_text(const reply_json& object, std::string_view name,
                           std::string_view value) {
  return with_member(object, name, value, "");
}

std::string content_type_of(std::string_view format) {
  return "image/" + std::string{format};
}

std::string base_url(const request_message& asked, const api_context& with) {
  const auto host = asked.host.empty() ? find_field(asked.headers, "host")
                                       : std::string_view{asked.host};
  if (!is_plain_host(host))
    return {};
  const bool tls = asked.scheme.empty() ? with.tls : asked.scheme == "https";
  return (tls ? "https://" : "http://") + std::string{host};
}

std::vector<uint8_t> encode_preview(const preview& x, std::string_view format) {
  core::encoding how;
  how.format =
    core::parse_image_format(format).value_or(core::image_format::png);
  const image::pixel_view pixels{{x.width, x.height}, 3, x.rgb};
  auto file = image::encode(pixels, how);
  return file ? std::move(*file) : std::vector<uint8_t>{};
}

std::optional<job_view> find_job(const jobs& all, const request_message& asked,
                                 const std::string& id) {
  const bool admin = asked.caller == scope::admin;
  const auto whose = find_field(asked.query, "key");
  if (admin && !whose.empty())
    return all.find({id, std::string{whose}});
  auto own = all.find({id, asked.key});
  if (own || !admin)
    return own;
  const auto others = all.find_all(id);
  return others.empty() ? std::nullopt : std::optional{others.front()};
}

bool is_forgotten(const jobs& all, const request_message& asked,
                  const std::string& id) {
  return asked.caller == scope::admin ? all.forgotten_of_anyone(id)
                                      : all.forgotten({id, asked.key});
}

std::string_view field_of(std::string_view error_text) {
  constexpr std::array fields{
    "prompt",  "size",     "image",   "mask", "model", "format",  "n",
    "variant", "priority", "quality", "seed", "id",    "deadline"};
  auto word = error_text.substr(0, error_text.find_first_of(" :"));
  const auto* const i = std::find(fields.begin(), fields.end(), word);
  if (i != fields.end())
    return *i;
  const auto* const p =
    std::ranges::find(core::parameters, word, &core::parameter::name);
  return p == std::end(core::parameters) ? std::string_view{} : p->name;
}

reply_message fault_reply(error_shape how, const field_fault& why) {
  failure x;
  x.code = core::to_string(why.code);
  x.text = why.text;
  return error_reply(how, x, why.field);
}

reply_message failure_reply(error_shape how, const failure& why) {
  return error_reply(how, why, field_of(why.text));
}

reply_json failure_json(const failure& why) {
  return {{"code", why.code}, {"message", public_text(why)}};
}

void note_handed_in(const api_context& with, const request_message& asked) {
  if (with.handed_in && asked.received != core::time_point{})
    with.handed_in(asked.received);
}

namespace {

void run_at(const api_context::runner& place,
            const std::shared_ptr<exchange>& x, error_shape how,
            std::function<void()> work) {
  auto guarded = [x, how, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& e) {
      x->reply(failure_reply(
        how, to_failure(core::fail(core::ec::internal, "{}", e.what()))));
    }
  };
  if (!place)
    return guarded();
  if (!place(caller_name(x->asked()), std::move(guarded)))
    x->reply(
      failure_reply(how, to_failure(core::fail(core::ec::overloaded,
                                               "too much work on images waits"),
                                    std::chrono::seconds{1})));
}

} // namespace

void run_elsewhere(const api_context& with, const std::shared_ptr<exchange>& x,
                   error_shape how, std::function<void()> work) {
  run_at(with.elsewhere, x, how, std::move(work));
}

void run_at_files(const api_context& with, const std::shared_ptr<exchange>& x,
                  error_shape how, std::function<void()> work) {
  run_at(with.at_files, x, how, std::move(work));
}

decode_time::decode_time(const api_context& with) {
  if (with.worked)
    bounds_.push_back({with.worked,
                       core::after(with.worked(), with.limits.decode),
                       "limits.decode_ms"});
  if (with.steady)
    bounds_.push_back({with.steady,
                       core::after(with.steady(), with.decode_most),
                       "http.decode_factor"});
}

std::function<bool()> decode_time::is_over() const {
  if (bounds_.empty())
    return {};
  return [bounds = bounds_, over = over_] {
    const auto at = std::ranges::find_if(
      bounds, [](const auto& x) { return x.now() >= x.until; });
    if (at == bounds.end())
      return false;
    *over = at->option;
    return true;
  };
}

std::string decode_time::text_of(const core::error& why) const {
  return over_->empty() ? why.text : fmt::format("{} ({})", why.text, *over_);
}

void run_unless_gone(const api_context& with,
                     const std::shared_ptr<exchange>& x, error_shape how,
                     std::function<void()> work) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  x->on_gone([gone] { *gone = true; });
  run_elsewhere(with, x, how, [x, how, gone, work = std::move(work)] {
    if (!*gone)
      return work();
    x->reply(failure_reply(
      how, to_failure(core::fail(core::ec::cancelled, "the client went"))));
  });
}

int64_t unix_seconds(std::chrono::system_clock::time_point x) {
  return std::chrono::duration_cast<std::chrono::seconds>(x.time_since_epoch())
    .count();
}

} // namespace atelier::runtime::http::detail
