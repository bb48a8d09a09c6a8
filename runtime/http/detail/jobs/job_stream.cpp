// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_stream.hpp>

#include <optional>
#include <utility>

namespace atelier::runtime::http::detail {

uint64_t first_bytes(const job_view& now, const std::vector<uint64_t>& sizes) {
  // The names of an event and its fields, and the frame of its chunk.
  constexpr uint64_t around = 256;
  // The job is in the first event and in the last, and each image in its own
  // and in the last.
  uint64_t bytes = 2 * (text_of(job_json(now)).size() + around);
  for (uint32_t i = 0; i < now.results.size(); ++i)
    if (now.results[i])
      bytes += 2 * (image_text(now, i, image_form::none, {}).size() + around)
             + (sizes[i] + 2) / 3 * 4;
  return bytes;
}

job_listener job_stream::listener(const std::shared_ptr<job_stream>& me) {
  return {[me](const job_view& v) { me->tell_progress(v); },
          [me](const job_view& v, uint32_t index) { me->tell_image(v, index); },
          [me](const job_view& v) { me->tell_end(v); }};
}

void job_stream::open(const job_view& now) {
  feed_.open("status", text_of(job_json(now)));
  for (uint32_t i = 0; i < now.results.size(); ++i)
    tell_image(now, i);
}

void job_stream::tell_progress(const job_view& v) {
  auto data = job_json(v);
  const auto previews = previews_.lock();
  if (!v.seen || v.seen == seen_ || encoding_ || previews == nullptr)
    return feed_.send_passing("progress", text_of(data));
  seen_ = v.seen;
  encoding_ = true;
  auto* const place = feed_.reserve("progress");
  previews->get(
    v.seen, "png",
    [me = shared_from_this(), place, data = std::move(data),
     of = v.seen_of](const encoded_previews::text& x) mutable {
      me->encoding_ = false;
      if (x == nullptr)
        return me->feed_.fill(place, text_of(data));
      data["preview_of"] = of;
      me->feed_.fill(
        place, with_plain_text(data, "preview", "data:image/png;base64," + *x));
    });
}

void job_stream::tell_image(const job_view& v, uint32_t index) {
  {
    const std::lock_guard guard{mutex_};
    told_.resize(v.results.size());
    if (told_[index] || !v.results[index])
      return;
    told_[index] = true;
  }
  if (how_ != image_form::b64_json)
    return feed_.send("image", image_text(v, index, how_, base_));
  // This text does not depend on the stream.
  auto text =
    images_->get(v.results[index], [&]() -> std::optional<std::string> {
      if (!v.results[index]->bytes.empty())
        return image_text(v, index, how_, base_);
      // The image is in a file, which may be gone. No other file is read.
      auto alone = v;
      alone.results.assign(v.results.size(), nullptr);
      alone.results[index] = v.results[index];
      const auto late = whole_(std::move(alone));
      if (!late.results[index])
        return std::nullopt;
      return image_text(late, index, how_, base_);
    });
  if (text)
    feed_.send("image", std::move(text));
}

void job_stream::tell_end(const job_view& v) {
  for (uint32_t i = 0; i < v.results.size(); ++i)
    tell_image(v, i);
  feed_.send(std::string{to_string(v.state)},
             job_text(v, how_ == image_form::b64_json ? image_form::none : how_,
                      base_, false));
  feed_.close();
}

} // namespace atelier::runtime::http::detail
