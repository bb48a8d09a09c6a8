// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/endpoint.hpp>
#include <atelier/core/input_file.hpp>
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/detail/connection/connection.hpp>
#include <atelier/runtime/http/detail/connection/open_files.hpp>
#include <atelier/runtime/http/detail/connection/request_id.hpp>
#include <atelier/runtime/http/server.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include <exception>
#include <thread>
#include <utility>

namespace atelier::runtime::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using core::ec;
using core::fail;
using core::result;
using detail::connection;
using detail::server_state;

/// Pause before the next try if a connection cannot be accepted, usually
/// because no descriptor is free.
constexpr auto accept_pause = std::chrono::milliseconds{100};

/// Looks the host up. Prefers the first IPv4 address.
result<tcp::endpoint> resolve(asio::io_context& io, const std::string& listen) {
  const auto where = config::parse_listen(listen);
  if (!where)
    return fail(ec::bad_config,
                "http.listen: '{}' is not HOST:PORT, :PORT or PORT", listen);
  error_code error;
  const auto address = asio::ip::make_address(where->host, error);
  if (!error)
    return tcp::endpoint{address, where->port};
  tcp::resolver resolver{io};
  const auto found = resolver.resolve(where->host, "", error);
  if (error || found.empty())
    return fail(ec::bad_config, "http.listen: cannot look up '{}': {}",
                where->host, error.message());
  auto best = found.begin()->endpoint().address();
  for (const auto& x : found)
    if (!best.is_v4() && x.endpoint().address().is_v4())
      best = x.endpoint().address();
  return tcp::endpoint{best, where->port};
}

result<tcp::acceptor> open_acceptor(asio::io_context& io,
                                    const tcp::endpoint& where,
                                    const std::string& listen) {
  tcp::acceptor out{io};
  error_code error;
  out.open(where.protocol(), error);
  if (!error)
    out.set_option(tcp::acceptor::reuse_address{true}, error);
  if (!error)
    out.bind(where, error);
  if (!error)
    out.listen(asio::socket_base::max_listen_connections, error);
  if (!error)
    return out;
  if (error == asio::error::address_in_use)
    return fail(ec::unavailable,
                "http.listen: {} is taken: another server listens there",
                listen);
  if (error == asio::error::access_denied)
    return fail(ec::unavailable, "http.listen: {} is not allowed here: {}",
                listen, error.message());
  if (error.value() == EADDRNOTAVAIL)
    return fail(ec::unavailable,
                "http.listen: {} is not an address of this machine", listen);
  return fail(ec::io_failed, "http.listen: cannot listen to {}: {}", listen,
              error.message());
}

/// Returns null if TLS is not configured.
result<std::shared_ptr<asio::ssl::context>> make_tls(
  const config::http_settings& from) {
  if (from.certificate.empty() && from.private_key.empty())
    return std::shared_ptr<asio::ssl::context>{};
  if (from.certificate.empty() || from.private_key.empty())
    return fail(ec::bad_config, "http.certificate and http.private_key: one "
                                "without the other");
  for (const auto& [option, file] :
       {std::pair{"http.certificate", &from.certificate},
        std::pair{"http.private_key", &from.private_key}})
    if (auto good = core::check_input_file(*file, *file); !good)
      return fail(ec::bad_config, "{}: {}", option, good.why().text);
  auto out =
    std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  error_code error;
  out->set_options(
    asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1
      | asio::ssl::context::no_tlsv1_1 | asio::ssl::context::single_dh_use,
    error);
  // Without this, a key with a password would make OpenSSL ask on the terminal.
  out->set_password_callback(
    [](size_t, asio::ssl::context::password_purpose) { return std::string{}; },
    error);
  out->use_certificate_chain_file(from.certificate, error);
  if (error)
    return fail(ec::bad_config, "http.certificate: cannot use '{}': {}",
                from.certificate, error.message());
  out->use_private_key_file(from.private_key, asio::ssl::context::pem, error);
  if (error)
    return fail(ec::bad_config, "http.private_key: cannot use '{}': {}",
                from.private_key, error.message());
  // Idle connections release their buffers.
  SSL_CTX_set_mode(out->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  return out;
}

std::string url_of(const tcp::endpoint& at, bool tls) {
  const auto host = at.address().to_string();
  return fmt::format("{}://{}:{}", tls ? "https" : "http",
                     at.address().is_v6() ? '[' + host + ']' : host, at.port());
}

} // namespace

class server::impl {
public:
  impl(std::shared_ptr<server_state> state, tcp::acceptor acceptor,
       std::shared_ptr<asio::ssl::context> tls)
    : state_(std::move(state)),
      acceptor_(std::move(acceptor)),
      again_(state_->io),
      tls_(std::move(tls)),
      by_tls_(tls_ != nullptr),
      url_(url_of(acceptor_.local_endpoint(), tls_ != nullptr)),
      work_(asio::make_work_guard(state_->io)) {}

  ~impl() {
    stop(core::timespan{0});
  }

  void run() {
    accept();
    for (uint32_t i = 0; i < state_->settings()->threads; ++i)
      threads_.emplace_back([state = state_.get()] { serve(*state); });
  }

  const std::string& url() const {
    return url_;
  }

  server_counts counts() const {
    const auto& x = *state_->counts;
    server_counts out;
    out.connections = x.connections;
    out.open_connections = x.open_connections;
    out.open_streams = x.open_streams;
    out.requests = x.requests;
    for (size_t i = 0; i < x.replies.size(); ++i)
      out.replies[i] = x.replies[i];
    out.refused_connections = x.refused_connections;
    out.timed_out = x.timed_out;
    out.body_bytes_held = x.bodies->held();
    out.reply_bytes_held = x.replies_held->held();
    return out;
  }

  result<void> renew(const config::http_settings& x) {
    std::shared_ptr<asio::ssl::context> tls;
    if (by_tls_) {
      auto made = make_tls(x);
      if (!made)
        return made.why();
      tls = std::move(*made);
    }
    state_->renew(detail::within_open_files(x));
    // Whether the server uses TLS does not change while it runs.
    if (tls != nullptr)
      state_->post(accepting_,
                   [this, tls = std::move(tls)]() mutable { tls_.swap(tls); });
    return {};
  }

  void end_strangers() {
    for (const auto& x : connections())
      x->close_stranger();
  }

  void post(std::function<void()> work) {
    state_->post(state_->io.get_executor(), std::move(work));
  }

  bool stop(core::timespan grace) {
    const std::lock_guard guard{stop_mutex_};
    if (threads_.empty())
      return answered_;
    state_->stopping = true;
    state_->post(accepting_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      again_.cancel(ignored);
    });
    for (const auto& x : connections())
      x->wind_down();
    {
      std::unique_lock lock{state_->busy_mutex};
      answered_ =
        state_->rest.wait_until(lock,
                                core::after(std::chrono::steady_clock::now(),
                                            std::min(grace, longest_grace)),
                                [&] { return state_->busy == 0; });
    }
    {
      const std::lock_guard lock{state_->registry_mutex};
      state_->closing = true;
    }
    for (const auto& x : connections())
      x->close_soon();
    {
      const std::unique_lock lock{state_->posting};
      state_->ended = true;
    }
    // Once every socket and timer has ended, the threads run out of work.
    work_.reset();
    for (auto& x : threads_)
      x.join();
    threads_.clear();
    state_->readers.reset();
    return answered_;
  }

private:
  /// Longest wait at a stop: with a longer one, the clock's arithmetic could
  /// overflow.
  static constexpr core::timespan longest_grace = std::chrono::hours{24 * 365};

  static void serve(server_state& state) {
    for (;;) {
      try {
        state.io.run();
        return;
      } catch (const std::exception& e) {
        core::log_error("a handler of the server threw: {}", e.what());
      }
    }
  }

  /// Returns all connections. The caller holds them, so that none is destroyed
  /// while the registry is locked.
  std::vector<std::shared_ptr<connection>> connections() {
    std::vector<std::shared_ptr<connection>> out;
    const std::lock_guard guard{state_->registry_mutex};
    for (auto* x : state_->registry)
      if (auto lives = x->weak_from_this().lock())
        out.push_back(std::move(lives));
    return out;
  }

  void accept() {
    auto each = asio::make_strand(state_->io);
    acceptor_.async_accept(
      each, asio::bind_executor(accepting_,
                                [this](error_code error, connection::socket x) {
                                  if (state_->stopping)
                                    return;
                                  if (error)
                                    return accept_later();
                                  take(std::move(x));
                                  accept();
                                }));
  }

  void accept_later() {
    again_.expires_after(accept_pause);
    again_.async_wait(asio::bind_executor(accepting_, [this](error_code error) {
      if (!error && !state_->stopping)
        accept();
    }));
  }

  void take(connection::socket x) {
    auto& counts = *state_->counts;
    if (counts.open_connections >= state_->settings()->connections) {
      ++counts.refused_connections;
      return turn_away(x, 503, "overloaded",
                       "the server has too many connections");
    }
    error_code gone;
    const auto peer = x.remote_endpoint(gone).address();
    if (gone)
      return;
    auto place = state_->peers->enter(peer);
    if (!place) {
      ++counts.refused_connections;
      return turn_away(x, 429, "too_many_connections",
                       "this address has too many connections");
    }
    std::make_shared<connection>(std::move(x), state_, std::move(*place), tls_)
      ->start();
  }

  /// Sends the reason, as far as possible without waiting, and closes.
  void turn_away(connection::socket& x, unsigned status, std::string_view code,
                 std::string_view why) {
    error_code ignored;
    if (tls_ == nullptr) {
      auto reply = error_reply(error_shape::openai, status, code, why);
      reply.headers.emplace_back("Retry-After", "1");
      detail::reply_form how;
      how.keep_alive = false;
      how.request_id = detail::request_id_of({}, server_state::draw);
      const auto text = head_text(reply, how, reply.body.size()) + reply.body;
      x.non_blocking(true, ignored);
      x.write_some(asio::buffer(text), ignored);
      x.shutdown(tcp::socket::shutdown_send, ignored);
    }
    x.close(ignored);
  }

  std::shared_ptr<server_state> state_;
  asio::strand<asio::io_context::executor_type> accepting_ =
    asio::make_strand(state_->io);
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  /// Used only on the accepting strand, once it runs.
  std::shared_ptr<asio::ssl::context> tls_;
  const bool by_tls_;
  std::string url_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
  std::mutex stop_mutex_;
  bool answered_ = true;
};

result<std::unique_ptr<server>> server::start(options with) {
  auto tls = make_tls(with.settings);
  if (!tls)
    return tls.why();
  asio::io_context names;
  const auto where = resolve(names, with.settings.listen);
  if (!where)
    return where.why();
  if (with.callers == nullptr)
    with.callers = std::make_shared<access>(std::vector<access_key>{});
  if (with.routes == nullptr)
    with.routes = std::make_shared<route_table>();
  const bool open = !with.callers->asks_for_keys();
  const bool anywhere = with.settings.without_key == "anywhere";
  if (open && !anywhere && !where->address().is_loopback())
    return fail(ec::bad_config,
                "http.listen: {} is reachable from outside this machine, and "
                "any client there could use the server: name a file of keys in "
                "http.keys, or set http.without_key = \"anywhere\" (serve "
                "--insecure)",
                with.settings.listen);
  const auto listen = with.settings.listen;
  with.settings = detail::within_open_files(std::move(with.settings));
  auto state =
    std::make_shared<server_state>(std::move(with), open && !anywhere);
  auto acceptor = open_acceptor(state->io, *where, listen);
  if (!acceptor)
    return acceptor.why();
  auto made =
    std::make_unique<impl>(std::move(state), *std::move(acceptor), *tls);
  made->run();
  return std::unique_ptr<server>{new server{std::move(made)}};
}

server::server(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

server::~server() = default;

std::string server::url() const {
  return impl_->url();
}

server_counts server::counts() const {
  return impl_->counts();
}

result<void> server::renew(const config::http_settings& x) {
  return impl_->renew(x);
}

void server::end_strangers() {
  impl_->end_strangers();
}

void server::post(std::function<void()> work) {
  impl_->post(std::move(work));
}

bool server::stop(core::timespan grace) {
  return impl_->stop(grace);
}

} // namespace atelier::runtime::http
