// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/job_stream.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

/// Previews whose URLs are kept: listeners of one job ask one after the other.
constexpr size_t most_known = 16;
/// Previews that may wait to be encoded.
constexpr size_t most_waiting = 1024;

} // namespace

preview_urls::preview_urls(bool apart)
  : thread_(apart ? std::make_unique<thread_offload>(1, most_waiting)
                  : nullptr) {}

void preview_urls::get(const std::shared_ptr<const preview>& of,
                       receiver then) {
  std::shared_ptr<entry> x;
  bool fresh = false;
  {
    const std::lock_guard guard{mutex_};
    const auto i = std::find_if(known_.begin(), known_.end(),
                                [&](const auto& y) { return y->of == of; });
    fresh = i == known_.end();
    x = fresh ? std::make_shared<entry>() : *i;
    if (fresh) {
      x->of = of;
      known_.push_back(x);
      if (known_.size() > most_known)
        known_.pop_front();
    }
  }
  std::unique_lock guard{x->mutex};
  if (x->done) {
    guard.unlock();
    return then(x->text);
  }
  x->waiting.push_back(std::move(then));
  guard.unlock();
  if (!fresh)
    return;
  const auto encode = [x] {
    const auto file = encode_preview(*x->of, "png");
    x->finish(
      std::make_shared<const std::string>(to_data_url("image/png", file)));
  };
  if (thread_ == nullptr)
    encode();
  else if (!thread_->run({}, encode))
    x->finish(nullptr);
}

void preview_urls::entry::finish(url x) {
  std::vector<receiver> all;
  {
    const std::lock_guard guard{mutex};
    done = true;
    text = std::move(x);
    all.swap(waiting);
  }
  for (const auto& then : all)
    then(text);
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
    return feed_.send("progress", text_of(data));
  seen_ = v.seen;
  encoding_ = true;
  auto* const place = feed_.reserve("progress");
  previews->get(v.seen, [me = shared_from_this(), place, data = std::move(data),
                         of = v.seen_of](const preview_urls::url& url) mutable {
    me->encoding_ = false;
    if (url == nullptr)
      return me->feed_.fill(place, text_of(data));
    data["preview_of"] = of;
    me->feed_.fill(place, with_plain_text(data, "preview", *url));
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
  if (how_ != image_form::b64_json || !v.results[index]->bytes.empty())
    return feed_.send("image", image_text(v, index, how_, base_));
  // It is in a file, which may be gone.
  if (const auto late = whole_(v); late.results[index])
    feed_.send("image", image_text(late, index, how_, base_));
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
