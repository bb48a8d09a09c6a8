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

/// In replies the order of fields is kept.
using reply_json = nlohmann::ordered_json;

/// Returns the text of a value; what is not UTF-8 is replaced.
std::string text_of(const reply_json& x);

reply_message json_reply(const reply_json& x, unsigned status = 200);

/// Returns `object` with one member more, whose text needs no escapes, such as
/// base64: a large one is copied once.
std::string with_plain_text(const reply_json& object, std::string_view name,
                            std::string_view value);

/// Likewise with a member whose text is JSON.
std::string with_json_text(const reply_json& object, std::string_view name,
                           std::string_view value);

/// "image/png" of "png".
std::string content_type_of(std::string_view format);

/// "http://HOST" as the client itself called this server; empty where it said
/// nothing usable.
std::string base_url(const request_message& asked, const api_context& with);

/// Returns a preview's file; empty where it cannot be encoded.
std::vector<uint8_t> encode_preview(const preview& x, std::string_view format);

/// Returns the caller's job of this id. An admin's is also that of the key that
/// the query names as `key`, else the newest of anybody's.
std::optional<job_view> find_job(const jobs& all, const request_message& asked,
                                 const std::string& id);

/// Whether such a job was there and is forgotten.
bool is_forgotten(const jobs& all, const request_message& asked,
                  const std::string& id);

/// The field that an engine's error speaks of; empty where it is none.
std::string_view field_of(std::string_view error_text);

reply_message fault_reply(error_shape how, const field_fault& why);

/// Of a job that was refused or failed.
reply_message failure_reply(error_shape how, const failure& why);

/// Code and text of a failure, for where it stands in a reply or an event; a
/// text that is not for clients is left out.
reply_json failure_json(const failure& why);

/// Tells who counts it that the call is at the engine.
void note_handed_in(const api_context& with, const request_message& asked);

/// Runs `work` where pixels are worked on; what it throws is answered.
void run_elsewhere(const api_context& with, const std::shared_ptr<exchange>& x,
                   error_shape how, std::function<void()> work);

/// Returns what becomes true when the files of one request have been worked on
/// for as long as they may, from now on (limits.decode_ms).
std::function<bool()> give_up_after(const api_context& with);

/// Runs `work` as run_elsewhere does, unless the client went while it waited
/// before its call was handed in.
void run_unless_gone(const api_context& with,
                     const std::shared_ptr<exchange>& x, error_shape how,
                     std::function<void()> work);

int64_t unix_seconds(std::chrono::system_clock::time_point x);

} // namespace atelier::runtime::http::detail
