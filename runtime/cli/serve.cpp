// SPDX-License-Identifier: Apache-2.0
// The command `serve`. Long, because one function object owns the order in
// which a server starts, reloads its settings and ends.
#include <atelier/config/endpoint.hpp>
#include <atelier/core/log_control.hpp>
#include <atelier/runtime/cli/engine_options.hpp>
#include <atelier/runtime/cli/freed_memory.hpp>
#include <atelier/runtime/cli/kept_jobs.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/serve.hpp>
#include <atelier/runtime/cli/server_file.hpp>
#include <atelier/runtime/http/access_log.hpp>
#include <atelier/runtime/http/doors.hpp>
#include <atelier/runtime/http/engine_images.hpp>
#include <atelier/runtime/http/housekeeper.hpp>
#include <atelier/runtime/http/server.hpp>
#include <atelier/runtime/http/settings_change.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#  include <malloc.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using namespace std::chrono_literals;
using core::result;
using nlohmann::ordered_json;

/// How often the engine is asked how it is.
constexpr auto refresh_period = 500ms;
constexpr auto not_found =
  "; 'atelier status' and 'atelier stop' will not find this one (--data DIR "
  "gives it a folder of its own)";
/// For replies that are on their way once the engine has stopped.
constexpr auto flush_grace = 2s;

/// Whether this process computes no images, so that its heaps are not a
/// device's.
bool is_split(const config::settings& x) {
  return x.processes.mode == config::process_mode::split;
}

/// Has blocks of bodies and files go back to the system when they are freed.
/// Else the C library keeps up to twice the largest that there was.
void return_large_blocks() {
#ifdef __GLIBC__
  constexpr int large = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, large);
#endif
}

/// Thousands of connections need more descriptors than a shell allows at
/// first. If the limit cannot be raised, accept fails later.
void raise_descriptor_limit() {
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) != 0)
    return;
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
}

/// Reads http.keys, if the server has any.
/// Errors: those of http::read_keys; ec::bad_config if the cache has fewer
///         parts.
result<std::vector<http::access_key>> keys_for(const config::settings& x) {
  if (x.http.keys.empty())
    return std::vector<http::access_key>{};
  auto keys = http::read_keys(x.http.keys);
  if (!keys || x.cache.tenants == 0)
    return keys;
  const auto names = http::access{*keys}.names().size();
  if (names > x.cache.tenants)
    return core::fail(core::ec::bad_config,
                      "cache.tenants divides the cache into {} parts, but {} "
                      "has keys of {} names",
                      x.cache.tenants, x.http.keys, names);
  return keys;
}

/// Whether the process has a terminal that is still there.
bool has_terminal() {
  const int it = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (it >= 0)
    close(it);
  return it >= 0;
}

/// What --listen and --insecure stand for.
result<common_arguments> with_door_options(const serve_arguments& arguments,
                                           common_arguments common) {
  if (arguments.listen) {
    if (auto ok = check_text("--listen", *arguments.listen, 512); !ok)
      return ok.why();
    if (!config::parse_listen(*arguments.listen))
      return core::fail(core::ec::invalid_argument,
                        "--listen: {} is not HOST:PORT, :PORT or PORT, with "
                        "PORT in 0..65535",
                        show_value(*arguments.listen));
    common.set.push_back("http.listen=" + toml_string(*arguments.listen));
  }
  if (arguments.insecure)
    common.set.emplace_back("http.without_key=\"anywhere\"");
  return common;
}

std::string who_is_served(const config::http_settings& http, size_t keys) {
  if (keys > 0)
    return keys == 1 ? "API key required (1 key)"
                     : fmt::format("API key required ({} keys)", keys);
  return http.without_key == "anywhere" ? "every client, without a key"
                                        : "local programs only";
}

/// Does work on its own thread, and wakes the one that waits for signals when
/// it is done. It has the thread as long as it lives, so that a server also
/// ends well where no more threads can start.
class background {
public:
  explicit background(interruption& waits)
    : waits_(waits), thread_([this] { loop(); }) {}

  ~background() {
    {
      const std::lock_guard hold{lock_};
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// @pre all earlier work is done
  void begin(std::function<void()> work) {
    {
      const std::lock_guard hold{lock_};
      work_ = std::move(work);
      done_ = false;
    }
    changed_.notify_all();
  }

  bool done() const {
    return done_;
  }

private:
  void loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock hold{lock_};
        changed_.wait(hold, [&] { return ends_ || work_; });
        if (!work_)
          return;
        work = std::exchange(work_, nullptr);
      }
      work();
      done_ = true;
      waits_.signal().wake();
    }
  }

  interruption& waits_;
  std::mutex lock_;
  std::condition_variable changed_;
  /// The lock guards both.
  std::function<void()> work_;
  bool ends_ = false;
  std::atomic<bool> done_ = true;
  // The last member: it uses the others.
  std::thread thread_;
};

/// One run of the server, from its start to its end.
class serve_run {
public:
  /// @param again reads the configuration once more
  serve_run(chosen_engine chosen, std::function<result<chosen_engine>()> again,
            const common_arguments& common, environment& world)
    : chosen_(std::move(chosen)),
      again_(std::move(again)),
      in_force_(chosen_.settings),
      common_(common),
      world_(world),
      beside_(world.interrupted) {}

  exit_status run() {
    const bool deaf = world_.interrupted.hear_hangups();
    had_terminal_ = !deaf && has_terminal();
    if (auto ok = open(); !ok)
      return refuse(world_.terminal, ok.why());
    if (const auto why = start_engine()) {
      world_.terminal.complain(why->text);
      return status_of(why->code);
    }
    if (world_.interrupted.count() == 0) {
      announce();
      wait_for_end();
    }
    return close();
  }

private:
  /// Returns at a wish to stop, or when the terminal that it was started on
  /// goes; any other hangup has files read again.
  void wait_for_end() {
    for (int seen = 0; world_.interrupted.count() == 0;) {
      if (const int now = world_.interrupted.hangups(); now != seen) {
        seen = now;
        if (had_terminal_ && !has_terminal())
          return;
        reload();
        continue;
      }
      world_.interrupted.signal().wait(std::nullopt);
    }
  }

  /// Takes over what applies of the configuration as its files are now, all of
  /// it or nothing.
  void reload() {
    const auto next = again_();
    if (!next)
      return complain_of(next.why());
    const auto merged = http::with_applied(in_force_, next->settings);
    auto keys = keys_for(merged);
    if (!keys)
      return complain_of(keys.why());
    if (auto done = server_->renew(merged.http); !done)
      return complain_of(done.why());
    if (!keys->empty()) {
      keys_ = keys->size();
      core::log_warn("read again: http.keys, with {} {}", keys_,
                     keys_ == 1 ? "key" : "keys");
      who_->replace(std::move(*keys));
      server_->end_strangers();
    }
    if (access_log_)
      if (auto done = access_log_->reopen(); !done)
        core::log_error("{}", done.why().text);
    if (!merged.http.certificate.empty())
      core::log_warn("read again: http.certificate and http.private_key");
    const auto changes = http::changes_between(in_force_, next->settings);
    for (const auto& x : changes)
      tell(x);
    if (changes.empty())
      core::log_warn("read again: the configuration is unchanged");
    in_force_ = merged;
    // After the lines that a quieter log would not show.
    if (const auto& level = in_force_.log.level;
        level != core::to_string(core::log_threshold()))
      if (auto done = core::set_log_threshold(level); !done)
        core::log_error("log.level stays: {}", done.why().text);
  }

  static void tell(const http::setting_change& x) {
    if (x.applies)
      core::log_warn("read again: {} is {}, was {}", x.key, x.after, x.before);
    else
      core::log_warn("read again: {} is {}: it stays {} until a restart", x.key,
                     x.after, x.before);
  }

  static void complain_of(const core::error& why) {
    core::log_error("no changes were applied from the files read again: {}",
                    why.text);
  }

  /// Opens the address first, so that an address in use is reported before a
  /// model loads.
  result<void> open() {
    const auto& http = chosen_.settings.http;
    auto early = core::start_log(chosen_.settings.log.level, "atelier");
    if (!early)
      return early.why();
    log_ = std::move(*early);
    auto keys = keys_for(chosen_.settings);
    if (!keys)
      return keys.why();
    keys_ = keys->size();
    who_ = std::make_shared<http::access>(std::move(*keys));
    claim_data_folder();
    raise_descriptor_limit();
    condition_ = std::make_shared<http::health>(
      images_, world_.version, [] { return std::chrono::steady_clock::now(); });
    auto kept =
      open_kept_jobs(chosen_.settings, data_folder(common_), world_.terminal);
    if (!kept)
      return kept.why();
    journal_ = kept->journal;
    auto doors = http::doors::make(
      {images_, condition_, chosen_.settings, std::move(kept->results),
       std::move(kept->journal), std::move(kept->found), who_});
    http::server::options with;
    with.settings = http;
    with.routes = doors.routes;
    with.callers = who_;
    with.done = [counted = doors.counted](const auto& method,
                                          const auto& pattern, unsigned status,
                                          double seconds) {
      counted->count_exchange(method, pattern, status, seconds);
    };
    with.responded = [counted = doors.counted](double seconds) {
      counted->count_door(http::metrics::door::respond, seconds);
    };
    if (!http.access_log.empty()) {
      auto log = http::access_log::open(
        http.access_log, [] { return std::chrono::system_clock::now(); });
      if (!log)
        return log.why();
      access_log_ = std::move(*log);
      with.log = [to = access_log_](const auto& x) { to->note(x); };
    }
    auto started = http::server::start(std::move(with));
    if (!started)
      return started.why();
    server_ = std::move(*started);
    pixels_ = std::move(doors.pixels);
    files_ = std::move(doors.files);
    encoder_ = std::move(doors.encoder);
    chores_ = std::move(doors.chores);
    disk_chores_ = std::move(doors.disk_chores);
    // On the thread that may wait: it is no loss if a slow disk delays this.
    if (is_split(chosen_.settings))
      disk_chores_.emplace_back([this] { look_at_memory(); });
    chores_.emplace_back(
      [this, counted = doors.counted] { counted->note(server_->counts()); });
    return {};
  }

  /// Returns freed memory to the system, as a rule when the server is at rest.
  void look_at_memory() {
    const auto resident = own_resident_bytes();
    if (!resident)
      return;
    const auto engine = condition_->last();
    const auto here = server_->counts();
    const bool has_work = engine.waiting > 0 || engine.running > 0
                       || here.body_bytes_held > 0 || here.reply_bytes_held > 0;
    const auto began = std::chrono::steady_clock::now();
    if (!freed_.due(began, *resident, has_work))
      return;
    return_freed_memory();
    const auto ended = std::chrono::steady_clock::now();
    const auto left = own_resident_bytes().value_or(*resident);
    freed_.returned(ended, left);
    core::log_debug(
      "freed memory went back to the system in {} ms: {} KiB, now {} KiB",
      std::chrono::duration_cast<std::chrono::milliseconds>(ended - began)
        .count(),
      *resident >> 10, left >> 10);
  }

  /// Where another server is found by the data folder, this one is not.
  void claim_data_folder() {
    const auto data = data_folder(common_);
    if (data.empty())
      return;
    if (auto mine = claim_.take(data); mine)
      file_ = server_file(data);
    else
      world_.terminal.complain(mine.why().text + not_found);
  }

  std::optional<failure> start_engine() {
    auto options = chosen_.engine;
    options.caller_runs_actors = false;
    std::optional<atelier::result<std::unique_ptr<engine>>> started;
    beside_.begin([&] { started = engine::start(options); });
    while (!beside_.done())
      world_.interrupted.signal().wait(std::nullopt);
    if (auto* why = std::get_if<failure>(&*started))
      return std::move(*why);
    images_->attach(std::get<std::unique_ptr<engine>>(std::move(*started)));
    // This comes before the first report that the server runs.
    condition_->refresh();
    condition_->enter(http::health::stage::running);
    keeper_.emplace(chores_, refresh_period);
    archivist_.emplace(disk_chores_, refresh_period);
    return std::nullopt;
  }

  void announce() {
    if (!file_.empty())
      if (auto ok = write_server_file(file_, {server_->url(), getpid()}); !ok)
        world_.terminal.complain(ok.why().text + not_found);
    const auto variants = images_->variants();
    const auto& settings = chosen_.settings;
    if (common_.json) {
      auto names = ordered_json::array();
      for (const auto& x : variants)
        names.push_back(x.name);
      auto devices = ordered_json::array();
      for (const auto& x : settings.devices)
        devices.push_back(x.name);
      world_.terminal.out << ordered_json{{"url", server_->url()},
                                          {"pid", getpid()},
                                          {"variants", names},
                                          {"devices", devices},
                                          {"policy", condition_->last().policy},
                                          {"keys", keys_}}
                               .dump()
                          << '\n'
                          << std::flush;
      return;
    }
    std::vector<std::string> names;
    names.reserve(variants.size());
    for (const auto& x : variants)
      names.push_back(x.name);
    std::vector<std::string> devices;
    devices.reserve(settings.devices.size());
    for (const auto& x : settings.devices)
      devices.push_back(x.name);
    const bool split = is_split(settings);
    const auto in_use = condition_->last();
    world_.terminal.err << fmt::format(
      "atelier {} serves at {}\n"
      "  variants  {}\n"
      "  devices   {}, {}\n"
      "  policy    {}\n"
      "  access    {}\n"
      "Ctrl-C, or 'atelier stop', ends it.\n",
      world_.version, server_->url(), fmt::join(names, ", "),
      fmt::join(devices, ", "),
      split ? "each in a process of its own" : "in one process",
      in_use.policy_is_automatic ? in_use.policy + ", by 'auto'"
                                 : in_use.policy,
      who_is_served(settings.http, keys_))
                        << std::flush;
  }

  exit_status close() {
    // Load balancers see it in /health; new requests get a retry time.
    condition_->end(core::after(std::chrono::steady_clock::now(),
                                chosen_.settings.processes.grace));
    if (!common_.json)
      world_.terminal.err
        << "Ending: running work is finished first. Once more to end at once.\n"
        << std::flush;
    beside_.begin([&] { images_->stop(chosen_.settings.processes.grace); });
    for (bool cut = false; !beside_.done();) {
      world_.interrupted.signal().wait(std::nullopt);
      if (world_.interrupted.count() > 1 && !cut) {
        cut = true;
        images_->stop(0s);
      }
    }
    condition_->enter(http::health::stage::stopping);
    const bool cut = world_.interrupted.count() > 1;
    server_->stop(cut ? core::timespan{0} : core::timespan{flush_grace});
    keeper_.reset();
    archivist_.reset();
    if (!file_.empty())
      remove_server_file(file_, getpid());
    return cut ? exit_status::interrupted : exit_status::done;
  }

  /// Writes what is logged before the engine has a log; lines reach a terminal
  /// once.
  std::shared_ptr<core::started_log> log_;
  const chosen_engine chosen_;
  const std::function<result<chosen_engine>()> again_;
  /// As started, with what was taken over since.
  config::settings in_force_;
  bool had_terminal_ = false;
  const common_arguments& common_;
  environment& world_;
  /// Before all that may hold it: see jobs.
  std::shared_ptr<http::job_journal> journal_;
  const std::shared_ptr<http::engine_images> images_ =
    std::make_shared<http::engine_images>();
  std::shared_ptr<http::health> condition_;
  std::vector<std::function<void()>> chores_;
  std::vector<std::function<void()>> disk_chores_;
  size_t keys_ = 0;
  std::shared_ptr<http::access> who_;
  /// Null: none is kept.
  std::shared_ptr<http::access_log> access_log_;
  server_claim claim_;
  /// Empty where another server has it.
  std::filesystem::path file_;
  std::shared_ptr<http::caller_turns> pixels_;
  std::shared_ptr<http::caller_turns> files_;
  std::shared_ptr<runtime::thread_offload> encoder_;
  std::unique_ptr<http::server> server_;
  /// Only the archivist's thread uses it.
  freed_memory freed_;
  std::optional<http::housekeeper> keeper_;
  std::optional<http::housekeeper> archivist_;
  background beside_;
};

} // namespace

exit_status serve(const serve_arguments& arguments,
                  const common_arguments& common, environment& world) {
  const auto all = with_door_options(arguments, common);
  if (!all)
    return refuse(world.terminal, all.why());
  const auto read = [&] {
    return read_engine_options({arguments.model,
                                arguments.device,
                                arguments.dtype,
                                arguments.policy,
                                arguments.processes,
                                arguments.timeline,
                                {"processes.mode=\"split\""}},
                               *all);
  };
  auto chosen = read();
  if (!chosen)
    return refuse(world.terminal, chosen.why());
  if (is_split(chosen->settings))
    return_large_blocks();
  return serve_run{std::move(*chosen), read, *all, world}.run();
}

} // namespace atelier::runtime::cli
