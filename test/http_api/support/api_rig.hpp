// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fake_exchange.hpp"
#include "job_rig.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/detail/jobs/encoded_previews.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atelier::test {

/// The routes of an API, with jobs and a fake engine.
struct api_rig : job_rig {
  using job_rig::job_rig;
  using exchange_ptr = std::shared_ptr<fake_exchange>;

  runtime::http::api_context context() {
    runtime::http::api_context x;
    x.images = images;
    x.images_of_call = 10;
    x.previews = std::make_shared<runtime::http::detail::encoded_previews>(
      [run = previews_run](std::function<void()> work) {
        return (*run)(std::move(work));
      });
    x.wall = clocks().wall;
    x.draw = [this] { return 0xffff'0000'0000'0000u + ++seeds; };
    return x;
  }

  exchange_ptr ask(runtime::http::request_message x) {
    const auto query = x.path.find('?');
    if (query != std::string::npos) {
      std::istringstream rest{x.path.substr(query + 1)};
      for (std::string one; std::getline(rest, one, '&');) {
        const auto sign = one.find('=');
        x.query.emplace_back(one.substr(0, sign), one.substr(sign + 1));
      }
      x.path.resize(query);
    }
    const auto match = routes.find(x.method, x.path);
    if (match.found == nullptr)
      throw std::runtime_error{"no route " + x.method + " " + x.path};
    x.parts = match.parts;
    x.key = key;
    x.caller = who;
    x.client = client;
    x.headers.emplace_back("host", "me:80");
    auto e = std::make_shared<fake_exchange>(std::move(x));
    e->unread_bytes = unread_bytes;
    match.found->answer(e);
    return e;
  }

  exchange_ptr get(std::string path) {
    runtime::http::request_message x;
    x.method = "GET";
    x.path = std::move(path);
    return ask(std::move(x));
  }

  exchange_ptr post(std::string path, std::string body,
                    runtime::http::fields headers = {}) {
    runtime::http::request_message x;
    x.method = "POST";
    x.path = std::move(path);
    x.body = std::move(body);
    x.headers = std::move(headers);
    return ask(std::move(x));
  }

  exchange_ptr post_json(std::string path, const nlohmann::json& body) {
    return post(std::move(path), body.dump(),
                {{"content-type", "application/json"}});
  }

  /// Returns the file of an image of one colour, with transparency if `alpha`
  /// is not 255.
  static std::vector<uint8_t> png(uint32_t width, uint32_t height,
                                  uint8_t value = 200, int alpha = -1) {
    const uint32_t channels = alpha < 0 ? 3 : 4;
    std::vector<uint8_t> bytes(size_t{width} * height * channels, value);
    if (alpha >= 0)
      for (size_t i = 3; i < bytes.size(); i += 4)
        bytes[i] = static_cast<uint8_t>(alpha);
    return *image::encode({{width, height}, channels, bytes}, {});
  }

  runtime::http::route_table routes;
  std::string key = "ann";
  /// The address of the client; empty: none is known.
  std::string client;
  /// How many bytes of events may wait until a client reads them.
  uint64_t unread_bytes = UINT64_MAX;
  runtime::http::scope who = runtime::http::scope::user;
  uint64_t seeds = 0;
  /// Runs the encoding of previews: at once, unless a test changes it.
  std::shared_ptr<runtime::http::detail::encoded_previews::runner>
    previews_run =
      std::make_shared<runtime::http::detail::encoded_previews::runner>(
        [](const std::function<void()>& work) {
          work();
          return true;
        });
};

} // namespace atelier::test
