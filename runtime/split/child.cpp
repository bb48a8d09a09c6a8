// SPDX-License-Identifier: Apache-2.0

//  control            ring            this process
//     |  setup          |                 |
//     |-----------------|---------------->|  maps, spawns its part
//     |                 |   worker_ready  |
//     |<----------------|-----------------|
//     |  run_stage, denoise, cancel       |
//     |-----------------|---------------->|  to the actor's mailbox
//     |                 |  reports, pong  |
//     |<----------------|-----------------|
//     |  leave          |                 |
//     |-----------------|---------------->|  exits with 0

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/wire.hpp>
#include <atelier/config/load.hpp>
#include <atelier/core/log.hpp>
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/host_extensions.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/pipeline.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/split/child.hpp>
#include <atelier/runtime/split/core_affinity.hpp>
#include <atelier/runtime/split/exit_status.hpp>

#include <caf/send.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime {

namespace {

constexpr core::timespan look_up = std::chrono::seconds{1};

/// Writes into the process's ring from any of its threads. If the ring is full
/// it waits: the control process continues reading, or kills this one.
class ring_scheduler_port : public actors::scheduler_port {
public:
  ring_scheduler_port(ipc::ring_place ring, ipc::ring_life life)
    : to_(ring, life) {}

  /// Names the stages in errors. Called before any worker exists.
  void know(std::shared_ptr<const planning::pipeline> stages) {
    stages_ = std::move(stages);
  }

  void send(actors::report what) override {
    send(to_message(what), true);
  }

  void send_quietly(actors::report what) override {
    send(to_message(what), false);
  }

  // A woken thread may take this core at once: a thread that held the lock then
  // would let all others wait for as long.
  void nudge() override {
    to_.announce();
  }

  void send(const actors::from_process& x, bool announce) {
    std::vector<std::byte> record;
    actors::write(x, record);
    if (record.size() > to_.largest()) {
      auto why = actors::too_large(record.size(), to_.largest());
      if (const auto* done = std::get_if<actors::stage_done>(&x.body);
          done != nullptr && stages_ && done->stage < stages_->size())
        why.text = fmt::format("the outcome of stage '{}': {}",
                               stages_->at(done->stage).row().name, why.text);
      core::log_error("a report is not sent: {}", why.text);
      const auto instead = actors::refused(x, std::move(why));
      if (!instead)
        return;
      actors::write(*instead, record);
    }
    if (put(record) && announce)
      to_.announce();
  }

private:
  static actors::from_process to_message(actors::report& what) {
    actors::from_process x;
    std::visit([&](auto& body) { x.body = std::move(body); }, what);
    return x;
  }

  bool put(const std::vector<std::byte>& record) {
    const std::lock_guard guard{mutex_};
    for (;;) {
      const auto pushed = to_.push_quietly(record);
      if (!pushed) {
        core::log_error("a report is lost: {}", core::to_string(pushed.why()));
        return false;
      }
      if (*pushed)
        return true;
      to_.announce();
      to_.wait_for_room(record.size(), look_up);
    }
  }

  std::shared_ptr<const planning::pipeline> stages_;
  std::mutex mutex_;
  /// Written to under the mutex; announcing needs none.
  ipc::ring_writer to_;
};

/// Everything that lives until the process leaves.
struct life {
  /// The last to end.
  std::shared_ptr<core::started_log> log;
  instruction_set_hold instructions;
  host_extensions own;
  config::settings settings;
  std::shared_ptr<ipc::arena_view> arena;
  std::shared_ptr<ring_scheduler_port> scheduler;
  std::shared_ptr<actors::worker_directory> workers;
  std::shared_ptr<const planning::profile> profile;
  std::unique_ptr<system_config> actor_settings;
  std::unique_ptr<caf::actor_system> sys;
  std::vector<device_part> devices;
  std::vector<caf::actor> pools;
};

core::result<void> begin(life& x, const child_options& how,
                         const actors::setup& told, const extensions& own) {
  auto admitted = admit(own);
  if (!admitted)
    return admitted.why();
  x.own = std::move(*admitted);
  auto parsed =
    config::parse(told.settings, "setup", {}, x.own.executor_names());
  if (!parsed)
    return config::to_error(parsed.faults);
  x.settings = std::move(parsed.values);
  auto log = core::start_log(x.settings.log.level, "atelier " + told.part);
  if (!log)
    return log.why();
  x.log = std::move(*log);
  // Before any working thread exists.
  if (auto bound = run_on(cores_of(x.settings, told.part)); !bound)
    return bound;
  auto limited = use_instruction_set(x.settings);
  if (!limited)
    return limited.why();
  x.instructions = std::move(*limited);
  // The device reports the models that it cannot load, and works with the
  // others.
  auto known = profile_of(x.settings, unreadable::named, x.own.stages);
  if (!known)
    return known.why();
  x.profile = std::make_shared<const planning::profile>(std::move(*known));
  const auto mine =
    stages_of(x.settings, x.own.stages, kept_elsewhere(x.settings));
  if (!mine)
    return mine.why();
  auto numbered = (*mine)->numbered_as(told.stages);
  if (!numbered)
    return numbered.why();
  const auto stages =
    std::make_shared<const planning::pipeline>(std::move(*numbered));
  x.scheduler->know(stages);
  x.workers = std::make_shared<actors::worker_directory>();
  const bool cpu = told.part == "cpu";
  x.actor_settings =
    std::make_unique<system_config>(cpu ? cpu_threads(x.settings) : 1);
  x.sys = std::make_unique<caf::actor_system>(*x.actor_settings);
  const part_context with{x.settings, x.profile,   stages,      x.arena,
                          x.workers,  x.scheduler, how.process, x.own.executors,
                          told.bare,  told.digests};
  if (cpu) {
    x.pools = spawn_cpu_pools(*x.sys, with);
    return {};
  }
  for (const auto& device : x.settings.devices) {
    if (device.name != told.part)
      continue;
    auto part = spawn_device(*x.sys, with, device, 0);
    if (!part)
      return part.why();
    x.devices.push_back(std::move(*part));
    return {};
  }
  return core::fail(core::ec::bad_config, "part '{}' does not exist",
                    told.part);
}

void deliver(life& x, actors::to_process message, actors::inline_unit* here) {
  const actors::worker_address to{{}, message.role, message.index};
  std::visit(
    [&]<class T>(T& body) {
      if constexpr (std::is_constructible_v<actors::work, T>)
        x.workers->send(to, std::move(body), here);
    },
    message.body);
  if (here != nullptr)
    here->run();
}

/// Ends the actors, then the system, then the objects that the actors used.
void end(life& x) {
  for (const auto& actor : x.pools)
    caf::anon_send_exit(actor, caf::exit_reason::kill);
  for (const auto& device : x.devices) {
    caf::anon_send_exit(device.actor, caf::exit_reason::kill);
    if (device.stages)
      caf::anon_send_exit(device.stages, caf::exit_reason::kill);
  }
  x.pools.clear();
  for (auto& device : x.devices) {
    device.actor = nullptr;
    device.stages = nullptr;
  }
  if (x.workers)
    x.workers->clear();
  x.sys.reset();
  x.devices.clear();
}

/// Whether the reading thread may run it itself: not the decoding and encoding
/// of images, which take long.
bool may_run_here(const actors::to_process& x) {
  const auto* order = std::get_if<actors::run_stage>(&x.body);
  return order == nullptr || order->is_short;
}

} // namespace

core::result<child_options> parse_child_options(int count,
                                                const char* const* arguments) {
  child_options how;
  auto number = [](std::string_view text, auto& into) {
    const auto* last = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), last, into);
    return parsed.ec == std::errc{} && parsed.ptr == last;
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto equals = argument.find('=');
    const auto key = argument.substr(0, equals);
    const auto value = equals == std::string_view::npos
                       ? std::string_view{}
                       : argument.substr(equals + 1);
    bool good = false;
    if (key == "--process") {
      good = number(value, how.process.process.value);
    } else if (key == "--life") {
      good = number(value, how.process.life.value);
    } else if (key == "--parent") {
      good = number(value, how.parent);
    }
    if (!good)
      return core::fail(core::ec::invalid_argument,
                        "argument '{}' is not understood", argument);
  }
  if (how.process.process.value == 0 || how.process.life.value == 0
      || how.parent <= 0)
    return core::fail(core::ec::invalid_argument,
                      "--process, --life and --parent are needed; "
                      "this program is started by Atelier itself");
  return how;
}

int run_child(const child_options& how, const extensions& own) {
  // Die with the parent; it may have died before this call was made.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != how.parent)
    return exit_status::orphaned;
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  auto mapped = ipc::arena_view::adopt(ipc::inherited_arena);
  if (!mapped) {
    fmt::print(stderr, "atelier-process: {}\n", core::to_string(mapped.why()));
    return mapped.why().code == core::ec::incompatible ? exit_status::foreign
                                                       : exit_status::failed;
  }
  life x;
  x.arena = std::move(*mapped);
  const auto rings = x.arena->rings(how.process.process);
  if (!rings) {
    fmt::print(stderr, "atelier-process: {}\n", core::to_string(rings.why()));
    return exit_status::failed;
  }
  const ipc::ring_life ring{x.arena->host_epoch(), how.process.life};
  x.scheduler = std::make_shared<ring_scheduler_port>(rings->outbound, ring);
  ipc::ring_reader from{rings->inbound, ring};
  std::optional<actors::inline_unit> here;
  std::vector<std::byte> record;
  std::vector<std::byte> after;
  bool have = false;
  int status = exit_status::done;
  for (;;) {
    if (!have) {
      const auto got = from.pop(record, look_up);
      if (!got) {
        core::log_error("the ring cannot be read: {}",
                        core::to_string(got.why()));
        status = exit_status::failed;
        break;
      }
      if (!*got)
        continue;
    }
    // Whether more records wait decides which thread runs this one.
    const auto more = from.pop(after, {});
    have = more && *more;
    auto message = actors::read_to_process(record);
    record.swap(after);
    if (!message) {
      core::log_error("{}", core::to_string(message.why()));
      status = exit_status::failed;
      break;
    }
    if (std::holds_alternative<actors::leave>(message->body))
      break;
    if (const auto* ping = std::get_if<actors::ping>(&message->body)) {
      x.scheduler->send(
        actors::from_process{actors::pong{how.process, ping->number,
                                          actors::count_blocked_handlers()}},
        true);
    } else if (const auto* told = std::get_if<actors::setup>(&message->body)) {
      if (auto begun = begin(x, how, *told, own); !begun) {
        x.scheduler->send(actors::from_process{actors::setup_refused{
                            how.process, std::move(begun).why()}},
                          true);
        status = exit_status::failed;
        break;
      }
      here.emplace(*x.sys);
    } else if (x.sys) {
      // The device's thread wakes while its actor still prepares.
      if (message->role == actors::role::denoise_step)
        for (auto& device : x.devices)
          device.device->rouse();
      const bool mine = !have && may_run_here(*message);
      deliver(x, std::move(*message), mine ? &*here : nullptr);
    }
  }
  here.reset();
  end(x);
  return status;
}

} // namespace atelier::runtime

namespace atelier {

int process_main(int count, char** arguments, const extensions& own) {
  const auto how = runtime::parse_child_options(count, arguments);
  if (!how) {
    fmt::print(stderr, "{}: {}\n", count > 0 ? arguments[0] : "process",
               how.why().text);
    return runtime::exit_status::usage;
  }
  return runtime::run_child(*how, own);
}

} // namespace atelier
