// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/console.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/running_server.hpp>
#include <atelier/runtime/cli/server_file.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;
using nlohmann::json;

result<server_place> find_server(const common_arguments& common) {
  const auto data = data_folder(common);
  const auto file = server_file(data);
  const auto there = read_server_file(file);
  if (!there)
    return there.why();
  if (!*there || !is_its_process(**there))
    return fail(ec::not_found,
                "no server runs with the data folder {}: 'atelier serve' "
                "starts one",
                show_value(data.string()));
  return **there;
}

std::string text_at(const json& in, const char* name) {
  const auto i = in.find(name);
  if (i == in.end())
    return "?";
  return without_controls(i->is_string() ? i->get<std::string>() : i->dump());
}

void print(const std::string& url, const json& x, std::ostream& out) {
  out << fmt::format("{}  {}, version {}, up {} s, {} waiting, {} running\n",
                     url, text_at(x, "status"), text_at(x, "version"),
                     text_at(x, "uptime_s"), text_at(x, "waiting"),
                     text_at(x, "running"));
  // The server omits it for clients without a key.
  if (x.contains("policy"))
    out << fmt::format("  {:<20} {}{}\n", "policy", text_at(x, "policy"),
                       text_at(x, "policy_automatic") == "true" ? ", by 'auto'"
                                                                : "");
  const auto table = [&](const char* name, const char* first, const char* last,
                         const char* before) {
    const auto rows = x.find(name);
    if (rows == x.end() || !rows->is_array())
      return;
    for (const auto& row : *rows)
      if (row.is_object()) {
        out << fmt::format("  {:<20} {:<6} {} {}\n",
                           before + text_at(row, first),
                           text_at(row, "alive") == "true" ? "alive" : "dead",
                           text_at(row, last), last);
        if (row.contains("fault"))
          out << fmt::format("  {:<20} {}\n", "", text_at(row, "fault"));
      }
  };
  table("workers", "device", "running", "");
  // A device's process has the device's name.
  table("processes", "role", "restarts", "process ");
  if (const auto counts = x.find("counts");
      counts != x.end() && counts->is_object())
    for (const auto& [name, value] : counts->items())
      out << fmt::format("  {:<20} {}\n", without_controls(name),
                         without_controls(value.dump()));
}

/// Waits for the end of a process; false where the user wants to wait no
/// longer.
bool wait_for_end(int pidfd, const interruption& interrupted) {
  pollfd entry{pidfd, POLLIN, 0};
  // A signal ends the poll.
  while (interrupted.count() == 0)
    if (poll(&entry, 1, -1) > 0)
      return true;
  return false;
}

} // namespace

void add_server_options(CLI::App& to, server_arguments& into) {
  add_text_option(to, "--server", into.server,
                  "Address of the server (default: the one of the data folder)")
    ->type_name("URL");
  add_text_option(to, "--key", into.key,
                  "A key, if the server requires one (default: $ATELIER_KEY)")
    ->type_name("KEY");
  add_text_option(to, "--cacert", into.authorities,
                  "With --server: trust these certificates (PEM), such as the "
                  "server's own self-signed one, instead of this machine's")
    ->type_name("FILE");
}

result<http::client_request> request_to(const server_arguments& arguments,
                                        const common_arguments& common) {
  if (arguments.authorities && !arguments.server)
    return fail(ec::invalid_argument,
                "--cacert: it has no effect without --server");
  http::client_request request;
  request.authorities = arguments.authorities.value_or("");
  request.key_in_clear = key_may_be_seen();
  if (arguments.server) {
    request.url = *arguments.server;
  } else {
    auto there = find_server(common);
    if (!there)
      return there.why();
    request.url = there->url;
    request.any_certificate = true;
  }
  while (request.url.ends_with('/'))
    request.url.pop_back();
  if (const auto key = server_key(arguments.key))
    request.headers.emplace_back("Authorization", "Bearer " + *key);
  return request;
}

CLI::App* add_status(CLI::App& app, server_arguments& into) {
  auto* sub =
    app.add_subcommand("status", "Show the status of a running server");
  add_server_options(*sub, into);
  return sub;
}

CLI::App* add_stop(CLI::App& app) {
  return app.add_subcommand("stop", "End the server of the data folder");
}

exit_status status(const server_arguments& arguments,
                   const common_arguments& common, environment& world) {
  auto request = request_to(arguments, common);
  if (!request)
    return refuse(world.terminal, request.why());
  const auto url = request->url;
  request->url += "/health";
  const auto reply = http::ask_server(*request);
  if (!reply)
    return refuse(world.terminal, reply.why());
  const auto x = json::parse(reply->body, nullptr, false);
  if (!x.is_object() || !x.contains("status"))
    return refuse(
      world.terminal,
      fail(ec::unavailable,
           "{} answers with status {}, but is not an Atelier server", url,
           reply->status));
  if (common.json)
    world.terminal.out << x.dump() << '\n';
  else
    print(url, x, world.terminal.out);
  return reply->status == 200 ? exit_status::done : exit_status::failed;
}

exit_status stop(const common_arguments& common, environment& world) {
  const auto there = find_server(common);
  if (!there)
    return refuse(world.terminal, there.why());
  // The number may be another process's by now: the descriptor is not.
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, there->pid, 0));
  if (pidfd < 0 || !is_its_process(*there)) {
    if (pidfd >= 0)
      close(pidfd);
    return refuse(world.terminal, fail(ec::not_found, "the server has ended"));
  }
  exit_status status = exit_status::done;
  if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, nullptr, 0) != 0)
    status =
      refuse(world.terminal, fail(ec::io_failed, "cannot end process {}: {}",
                                  there->pid, std::strerror(errno)));
  else if (!wait_for_end(pidfd, world.interrupted))
    status = exit_status::interrupted;
  close(pidfd);
  return status;
}

} // namespace atelier::runtime::cli
