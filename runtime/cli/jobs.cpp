// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/jobs.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/running_server.hpp>
#include <atelier/runtime/cli/server_caller.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using nlohmann::json;

/// The work of one call of the command.
struct jobs_call {
  bool cancels = false;
  std::string path;
};

/// Returns whether a server may have a job with this ID: it needs no escaping
/// in a path.
bool is_job_id(std::string_view x) {
  constexpr std::string_view marks = "_.()-";
  return !x.empty() && x.size() <= 128
      && std::all_of(x.begin(), x.end(), [&](char c) {
           return core::is_alphanumeric(c) || marks.find(c) != marks.npos;
         });
}

result<jobs_call> read_call(const jobs_arguments& x) {
  const std::string verb = x.words.empty() ? "list" : x.words.front();
  if (auto ok = check_choice("jobs", verb); !ok)
    return ok.why();
  const bool cancels = verb == "cancel";
  const size_t ids = x.words.empty() ? 0 : x.words.size() - 1;
  if (ids != (cancels ? 1u : 0u))
    return fail(ec::invalid_argument, "jobs {}: {} jobs named, {} allowed",
                verb, ids, cancels ? 1 : 0);
  if (!cancels) {
    if (x.image)
      return fail(ec::invalid_argument,
                  "--image: {} is for 'cancel', not for '{}'",
                  show_value(*x.image), verb);
    return jobs_call{false, "/v1/jobs?limit=1000"};
  }
  const auto& id = x.words.back();
  if (!is_job_id(id))
    return fail(ec::invalid_argument,
                "ID: {} is not 1..128 of [A-Za-z0-9_.()-]", show_value(id));
  if (!x.image)
    return jobs_call{true, fmt::format("/v1/jobs/{}/cancel", id)};
  const auto index = parse_whole("--image", *x.image, 0, UINT32_MAX);
  if (!index)
    return index.why();
  return jobs_call{true,
                   fmt::format("/v1/jobs/{}/images/{}/cancel", id, *index)};
}

/// Returns the value with that name; a default value if it is missing or has
/// another type.
template <class T>
T field_of(const json& in, const char* name) {
  try {
    return in.value(name, T{});
  } catch (const json::exception&) {
    return T{};
  }
}

void print_job(const json& job, bool as_json, std::ostream& out) {
  if (as_json) {
    out << job.dump() << '\n';
    return;
  }
  const auto cancelled =
    field_of<std::vector<uint32_t>>(job, "cancelled_images");
  out << fmt::format(
    "{}  {:<9}  {} of {} images{}, step {} of {}\n",
    without_controls(field_of<std::string>(job, "id")),
    without_controls(field_of<std::string>(job, "status")),
    field_of<uint32_t>(job, "pictures_done"),
    field_of<uint32_t>(job, "pictures"),
    cancelled.empty() ? "" : fmt::format(", {} cancelled", cancelled.size()),
    field_of<uint32_t>(job, "step"), field_of<uint32_t>(job, "steps"));
}

/// Prints why the server did not do it.
exit_status refuse_reply(const console& terminal, const http::client_reply& x,
                         bool has_key) {
  const auto why = failure_in(x);
  if (x.status == 401 || x.status == 403)
    return refuse(terminal,
                  fail(ec::invalid_argument, "{}: {}",
                       has_key ? "--key" : "--key is missing", why.text));
  terminal.complain(why.text.empty() ? why.code : why.text);
  return status_of(why.code);
}

} // namespace

CLI::App* add_jobs(CLI::App& app, jobs_arguments& into) {
  auto* sub =
    app.add_subcommand("jobs", "List or cancel the jobs of a running server");
  add_text_option(*sub, "--image", into.image,
                  "With cancel: cancel only the image with this index, from 0 "
                  "on; the job's other images continue")
    ->type_name("N");
  add_server_options(*sub, into.server);
  return sub;
}

exit_status jobs(const jobs_arguments& arguments,
                 const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  const auto wanted = read_call(arguments);
  if (!wanted)
    return refuse(terminal, wanted.why());
  auto request = request_to(arguments.server, common);
  if (!request)
    return refuse(terminal, request.why());
  const auto server = request->url;
  request->method = wanted->cancels ? "POST" : "GET";
  // A list has pages; a job that was cancelled has one.
  for (std::string after;;) {
    request->url = server + wanted->path + after;
    const auto reply = http::ask_server(*request);
    if (!reply)
      return refuse(terminal, reply.why());
    if (reply->status != 200)
      return refuse_reply(terminal, *reply,
                          server_key(arguments.server.key).has_value());
    const auto told = json::parse(reply->body, nullptr, false);
    const auto rows =
      wanted->cancels ? json::array({told}) : field_of<json>(told, "data");
    if (!told.is_object() || !rows.is_array())
      return refuse(terminal,
                    fail(ec::unavailable,
                         "{} names no jobs: it is not an Atelier server",
                         show_value(server)));
    for (const auto& job : rows)
      print_job(job, common.json, terminal.out);
    if (wanted->cancels || rows.empty() || !field_of<bool>(told, "has_more"))
      return exit_status::done;
    const auto last = field_of<std::string>(rows.back(), "id");
    const auto key = field_of<std::string>(rows.back(), "key");
    if (!is_job_id(last) || (!key.empty() && !is_job_id(key)))
      return refuse(terminal,
                    fail(ec::unavailable,
                         "{} names a job that cannot be asked for: it is not "
                         "an Atelier server",
                         show_value(server)));
    after = "&after=" + last + (key.empty() ? "" : "&key=" + key);
  }
}

} // namespace atelier::runtime::cli
