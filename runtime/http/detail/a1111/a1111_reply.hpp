// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/a1111/a1111_call.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace atelier::runtime::http::detail {

/// What a reply needs of its call.
struct a1111_echo {
  bool send_images = true;
  uint32_t batch_size = 1;
  /// The call as JSON.
  std::string parameters;
  /// The first image wanted, without its files.
  generation first;
};

a1111_echo echo_of(const a1111_call& call);

/// Writes the reply to a call whose job completed or was interrupted: then it
/// has the images that are done, or without any the newest preview in the
/// image's size. Takes the images one at a time, and holds nothing but the
/// text.
class a1111_reply {
public:
  /// @param images the number of images to come
  a1111_reply(std::shared_ptr<const a1111_echo> how, size_t images)
    : how_(std::move(how)), left_(images) {}

  /// Adds the file of the next image.
  void add(std::span<const uint8_t> file);

  /// Returns the reply; must be the last call.
  reply_message finish(const job_view& v);

private:
  void append(std::span<const uint8_t> file);

  std::shared_ptr<const a1111_echo> how_;
  /// The images that are still to come.
  size_t left_;
  /// The reply's text so far.
  std::string body_ = "{\"images\":[";
  reply_json infotexts_ = reply_json::array();
};

/// "20251122031500", in UTC, as the web UI stamps its jobs.
std::string stamp_of(std::chrono::system_clock::time_point x);

} // namespace atelier::runtime::http::detail
