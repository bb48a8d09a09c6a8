// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/openai_reply.hpp>
#include <atelier/runtime/http/note_json.hpp>
#include <atelier/runtime/http/prompt_class_json.hpp>
#include <atelier/runtime/http/reuse_json.hpp>
#include <atelier/runtime/http/timings_json.hpp>

#include <fmt/format.h>

namespace atelier::runtime::http::detail {

namespace {

/// Clients expect tokens: a text's are counted as one for four bytes, a
/// image's as one for 16x16 pixels.
reply_json usage_of(const job_view& v, const openai_echo& how) {
  uint64_t pixels = 0;
  uint64_t of_one = 0;
  for (const auto& p : v.results)
    if (p) {
      of_one = uint64_t{p->width} * p->height;
      pixels += of_one;
    }
  const auto text = (how.text_bytes + 3) / 4;
  const auto sources = how.sources * of_one / 256;
  const auto made = pixels / 256;
  return {
    {"input_tokens", text + sources},
    {"input_tokens_details",
     {{"image_tokens", sources}, {"text_tokens", text}}},
    {"output_tokens", made},
    {"output_tokens_details", {{"image_tokens", made}, {"text_tokens", 0}}},
    {"total_tokens", text + sources + made}};
}

std::string size_of(const generated_image& p) {
  return fmt::format("{}x{}", p.width, p.height);
}

std::string data_text(const job_view& v, uint32_t index,
                      const openai_echo& how) {
  const auto& p = *v.results[index];
  reply_json x{{"seed", p.seed}, {"notes", p.notes}};
  x["timings_ms"] = timings_json(p.took);
  add_prompt_class(x, p);
  add_reuse(x, p);
  if (how.as_url) {
    x["url"] = fmt::format("{}/v1/images/{}-{}/content", how.base, v.id, index);
    return text_of(x);
  }
  return with_plain_text(x, "b64_json", to_base64(p.bytes));
}

} // namespace

openai_echo echo_of(const openai_call& call, std::string base) {
  openai_echo x{call.as_url, call.background, call.quality, call.format, 0,
                0,           std::move(base)};
  for (const auto& g : call.job.images) {
    x.text_bytes += g.prompt.size() + g.negative.size();
    x.sources += g.image.empty() ? 0u : 1u;
  }
  return x;
}

reply_message openai_reply(const job_view& v, const openai_echo& how) {
  std::string data = "[";
  for (uint32_t i = 0; i < v.results.size(); ++i)
    data += (i > 0 ? "," : "") + data_text(v, i, how);
  data += "]";
  reply_message reply;
  reply.body = with_json_text({{"created", unix_seconds(v.created)},
                               {"background", how.background},
                               {"output_format", how.format},
                               {"quality", how.quality},
                               {"size", size_of(*v.results.front())},
                               {"usage", usage_of(v, how)}},
                              "data", data);
  reply.ready = v.ready;
  return reply;
}

std::string partial_image_event(std::string_view type, const job_view& v,
                                uint32_t index, const openai_echo& how,
                                std::string_view encoded) {
  const auto& seen = *v.seen;
  return with_plain_text(
    {{"type", type},
     {"created_at", unix_seconds(v.created)},
     {"background", how.background},
     {"output_format", how.format},
     {"quality", how.quality},
     {"size", fmt::format("{}x{}", seen.width, seen.height)},
     {"partial_image_index", index}},
    "b64_json", encoded);
}

std::string completed_event(std::string_view type, const job_view& v,
                            const openai_echo& how) {
  const auto& p = *v.results.front();
  reply_json x{{"type", type},
               {"created_at", unix_seconds(v.created)},
               {"background", how.background},
               {"output_format", how.format},
               {"quality", how.quality},
               {"size", size_of(p)},
               {"seed", p.seed},
               {"notes", p.notes},
               {"usage", usage_of(v, how)}};
  add_prompt_class(x, p);
  add_reuse(x, p);
  return with_plain_text(x, "b64_json", to_base64(p.bytes));
}

std::string error_event(const failure& why) {
  return text_of({{"type", "error"}, {"error", failure_json(why)}});
}

} // namespace atelier::runtime::http::detail
