// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/time.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_progress.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_reply.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

double share_of(const job_view& x) {
  return x.state == job_state::completed ? 1
       : x.steps == 0
         ? 0
         : std::min(1.0, static_cast<double>(x.steps_done) / x.steps);
}

reply_json seconds_left(const job_view& x) {
  return x.remaining ? reply_json(core::to_seconds(*x.remaining))
                     : reply_json();
}

reply_json text_for(const job_view& x) {
  return x.queue_position > 0
         ? reply_json(fmt::format("In queue, place {}", x.queue_position))
         : reply_json();
}

} // namespace

std::optional<job_view> find_a1111_job(const jobs& all,
                                       const request_message& asked,
                                       std::string_view id) {
  constexpr std::string_view kinds[] = {"txt2img", "img2img"};
  if (!id.empty())
    return find_job(all, asked, std::string{id});
  return all.find_open(asked.key, kinds);
}

reply_json progress_json(const std::optional<job_view>& v, bool with_image) {
  reply_json state{
    {"skipped", false}, {"interrupted", false}, {"stopping_generation", false},
    {"job", ""},        {"job_count", 0},       {"job_timestamp", "0"},
    {"job_no", 0},      {"sampling_step", 0},   {"sampling_steps", 0}};
  reply_json x{{"progress", 0.0},
               {"eta_relative", 0.0},
               {"state", state},
               {"current_image", nullptr},
               {"textinfo", nullptr}};
  if (!v)
    return x;
  const auto of_one = v->images == 0 ? 0 : v->steps / v->images;
  state["interrupted"] = v->state == job_state::cancelled;
  state["job"] = v->id;
  state["job_count"] = v->images;
  state["job_timestamp"] = stamp_of(v->created);
  state["job_no"] = v->images_done;
  // Several images may run at once: their steps together are more than one
  // image has.
  state["sampling_step"] = std::min(
    of_one, v->steps_done - std::min(v->steps_done, v->images_done * of_one));
  state["sampling_steps"] = of_one;
  x["progress"] = share_of(*v);
  if (v->remaining)
    x["eta_relative"] = core::to_seconds(*v->remaining);
  x["state"] = state;
  x["textinfo"] = text_for(*v);
  if (with_image && v->seen)
    x["current_image"] = to_base64(encode_preview(*v->seen, "png"));
  return x;
}

reply_json task_progress_json(const std::optional<job_view>& v, bool ended,
                              int64_t seen, bool with_image) {
  reply_json x{{"active", false},         {"queued", false},
               {"completed", ended},      {"progress", nullptr},
               {"eta", nullptr},          {"live_preview", nullptr},
               {"id_live_preview", seen}, {"textinfo", nullptr}};
  if (!v)
    return x;
  x["active"] = v->state == job_state::running;
  x["queued"] = v->state == job_state::queued;
  x["completed"] = v->state >= job_state::completed;
  x["progress"] = share_of(*v);
  x["eta"] = seconds_left(*v);
  x["textinfo"] = text_for(*v);
  if (with_image && v->seen) {
    const auto number = int64_t{v->seen_of} * 100'000 + v->seen->step;
    if (number != seen) {
      x["id_live_preview"] = number;
      x["live_preview"] =
        to_data_url("image/png", encode_preview(*v->seen, "png"));
    }
  }
  return x;
}

} // namespace atelier::runtime::http::detail
