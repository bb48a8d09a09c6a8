// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// JSON of replies, which keeps the order of fields.
using reply_json = nlohmann::ordered_json;

/// Returns the text of a value; bytes that are not UTF-8 are replaced.
std::string text_of(const reply_json& x);

reply_message json_reply(const reply_json& x, unsigned status = 200);

/// Returns `object` with one member more, whose text needs no escapes, such as
/// base64: a large one is copied once.
std::string with_plain_text(const reply_json& object, std::string_view name,
                            std::string_view value);

/// Does the same with a member whose text is JSON.
std::string with_json_text(const reply_json& object, std::string_view name,
                           std::string_view value);

/// Returns "image/png" for "png".
std::string content_type_of(std::string_view format);

/// "http://HOST" as the client itself called this server, by itself or through
/// a trusted proxy; empty where it said nothing usable.
std::string base_url(const request_message& asked, const api_context& with);

/// Returns a preview's file; empty where it cannot be encoded.
std::vector<uint8_t> encode_preview(const preview& x, std::string_view format);

/// Returns the caller's job of this id. For an admin it may also be the job of
/// the key that the query names as `key`, otherwise the newest job of any
/// owner.
std::optional<job_view> find_job(const jobs& all, const request_message& asked,
                                 const std::string& id);

/// Returns whether such a job existed and is forgotten.
bool is_forgotten(const jobs& all, const request_message& asked,
                  const std::string& id);

/// Returns the field that an engine's error names; empty if it names none.
std::string_view field_of(std::string_view error_text);

reply_message fault_reply(error_shape how, const field_fault& why);

/// Returns the reply for a job that was rejected or failed.
reply_message failure_reply(error_shape how, const failure& why);

/// Returns the code and text of a failure, for a reply or an event; a text that
/// is not for clients is left out.
reply_json failure_json(const failure& why);

/// Reports to `with.handed_in` that the call is at the engine.
void note_handed_in(const api_context& with, const request_message& asked);

/// Runs `work` where pixels are processed; exceptions that it throws are
/// answered with an error.
void run_elsewhere(const api_context& with, const std::shared_ptr<exchange>& x,
                   error_shape how, std::function<void()> work);

/// Does the same where files of images are read, which waits for no pixels.
void run_at_files(const api_context& with, const std::shared_ptr<exchange>& x,
                  error_shape how, std::function<void()> work);

/// Bounds the work on the files of one call, from its construction on: the
/// processor time of the calling thread (limits.decode_ms), and the time by the
/// clock (http.decode_factor).
/// Threads: the one that does the work.
class decode_time {
public:
  explicit decode_time(const api_context& with);

  /// Returns a function that returns true once one of them is used up, and
  /// notes which; empty if nothing is bounded.
  std::function<bool()> is_over() const;

  /// Returns the text of an error of the work, with the option whose time that
  /// function found used up.
  std::string text_of(const core::error& why) const;

private:
  struct bound {
    std::function<core::time_point()> now;
    core::time_point until;
    std::string_view option;
  };

  std::vector<bound> bounds_;
  std::shared_ptr<std::string_view> over_ =
    std::make_shared<std::string_view>();
};

/// Runs `work` as run_elsewhere does, unless the client left while it waited
/// before its call was submitted.
void run_unless_gone(const api_context& with,
                     const std::shared_ptr<exchange>& x, error_shape how,
                     std::function<void()> work);

int64_t unix_seconds(std::chrono::system_clock::time_point x);

} // namespace atelier::runtime::http::detail
