// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/process_spawner.hpp>

#include <boost/test/unit_test.hpp>
#include <support/eventually.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;

namespace {

namespace fs = std::filesystem;

ipc::process_life life(uint32_t process, uint32_t n) {
  return {core::process_id{process}, core::incarnation{n}};
}

bool exists(int32_t pid) {
  return kill(pid, 0) == 0;
}

/// While it lives, no thread can start: its stack has no place.
class no_new_threads {
public:
  no_new_threads() {
    pthread_attr_t now;
    BOOST_TEST_REQUIRE(pthread_getattr_default_np(&now) == 0);
    BOOST_TEST_REQUIRE(pthread_attr_getstacksize(&now, &before_) == 0);
    BOOST_TEST_REQUIRE(set(now, size_t{1} << 50));
    pthread_attr_destroy(&now);
  }

  no_new_threads(const no_new_threads&) = delete;
  no_new_threads& operator=(const no_new_threads&) = delete;

  ~no_new_threads() {
    pthread_attr_t now;
    BOOST_TEST(pthread_getattr_default_np(&now) == 0);
    BOOST_TEST(set(now, before_));
    pthread_attr_destroy(&now);
  }

private:
  static bool set(pthread_attr_t& x, size_t bytes) {
    return pthread_attr_setstacksize(&x, bytes) == 0
        && pthread_setattr_default_np(&x) == 0;
  }

  size_t before_ = 0;
};

/// Returns this process's descriptors of a kind, such as "[pidfd]".
std::vector<int> descriptors_of(const std::string& kind) {
  std::vector<int> found;
  for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(fd.path(), gone).string().ends_with(kind))
      found.push_back(std::stoi(fd.path().filename().string()));
  }
  return found;
}

/// Closes the descriptors of a kind, as a careless host may.
void close_all(const std::string& kind) {
  const auto found = descriptors_of(kind);
  BOOST_TEST_REQUIRE(!found.empty(), kind);
  for (const int fd : found)
    close(fd);
}

/// A spawner whose program is a shell script.
struct stage {
  fs::path folder = make_folder();
  std::shared_ptr<ipc::arena_owner> host = make_host();
  std::mutex mutex;
  std::vector<actors::process_started> started;
  std::vector<actors::process_exited> exited;
  std::vector<actors::from_process> reports;
  core::timespan confirm = 30s;
  std::unique_ptr<runtime::process_spawner> sut;

  enum class begin : uint8_t { now, later };

  explicit stage(const std::string& script, begin now = begin::now) {
    const auto program = folder / "program";
    std::ofstream{program} << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    use(program.string());
    if (now == begin::now)
      connect();
  }

  ~stage() {
    sut.reset();
    fs::remove_all(folder);
  }

  runtime::process_spawner::options options_for(const std::string& program) {
    runtime::process_spawner::options how;
    how.host = host;
    how.program = program;
    how.confirm = confirm;
    how.arrived = [this](ipc::process_life, actors::from_process x) {
      const std::lock_guard guard{mutex};
      reports.push_back(std::move(x));
    };
    return how;
  }

  void use(runtime::process_spawner::options how) {
    auto made = runtime::process_spawner::make(std::move(how));
    BOOST_TEST_REQUIRE(made.operator bool());
    sut = std::move(*made);
  }

  void use(const std::string& program) {
    use(options_for(program));
  }

  void connect() {
    sut->connect(
      [this](actors::process_started x) {
        const std::lock_guard guard{mutex};
        started.push_back(std::move(x));
      },
      [this](actors::process_exited x) {
        const std::lock_guard guard{mutex};
        exited.push_back(std::move(x));
      });
  }

  static fs::path make_folder() {
    auto name = (fs::temp_directory_path() / "spawner-XXXXXX").string();
    BOOST_TEST_REQUIRE((mkdtemp(name.data()) != nullptr));
    return name;
  }

  static std::shared_ptr<ipc::arena_owner> make_host() {
    ipc::arena_sizes sizes;
    sizes.slots = {1, 1, 0};
    sizes.slot_bytes = {64, 64, 64};
    sizes.processes = 4;
    sizes.ring_bytes = 65536;
    auto made = ipc::arena_owner::make_shared_memory(sizes);
    BOOST_TEST_REQUIRE(made.operator bool());
    return std::move(*made);
  }

  size_t starts() {
    const std::lock_guard guard{mutex};
    return started.size();
  }

  size_t exits() {
    const std::lock_guard guard{mutex};
    return exited.size();
  }

  /// Starts one process and returns its pid.
  int32_t start(ipc::process_life who = life(1, 1)) {
    const auto before = starts();
    sut->start(who, "part", false);
    BOOST_TEST_REQUIRE(eventually([&] { return starts() == before + 1; }));
    const std::lock_guard guard{mutex};
    BOOST_TEST_REQUIRE((started.back().failure.code == core::ec::none));
    BOOST_TEST_REQUIRE((started.back().process == who));
    return started.back().pid;
  }

  std::string how_it_ended() {
    BOOST_TEST_REQUIRE(eventually([&] { return exits() == 1; }));
    const std::lock_guard guard{mutex};
    return exited.back().manner;
  }
};

/// Returns whether an end counts against the process's work.
actors::death cause_of_end(const std::string& script, bool kill_it = false) {
  stage s{script};
  s.start();
  if (kill_it)
    s.sut->kill(life(1, 1));
  s.how_it_ended();
  return s.exited.back().cause;
}

} // namespace

BOOST_AUTO_TEST_SUITE(process_spawner_test)

BOOST_AUTO_TEST_CASE(the_cause_of_an_end_is_told) {
  using actors::death;
  for (const auto* fault :
       {"kill -SEGV $$", "kill -ABRT $$", "kill -BUS $$", "exit 1", "exit 0"})
    BOOST_TEST((cause_of_end(fault) == death::crash), fault);
  // An operator killed it, not the lack of memory.
  for (const auto* kill : {"kill -KILL $$", "kill -TERM $$"})
    BOOST_TEST((cause_of_end(kill) == death::outside), kill);
  BOOST_TEST((cause_of_end("exec sleep 1000", true) == death::watchdog));
}

BOOST_AUTO_TEST_CASE(who_leaves_as_told_does_not_crash) {
  const auto cause_of_leaving = [](int status) {
    stage s{"until [ -e $(dirname $0)/go ]; do sleep 0.01; done; exit "
            + std::to_string(status)};
    s.start();
    s.sut->ask_to_leave(life(1, 1));
    const std::ofstream go{s.folder / "go"};
    s.how_it_ended();
    return s.exited.back().cause;
  };
  BOOST_TEST((cause_of_leaving(0) == actors::death::outside));
  BOOST_TEST((cause_of_leaving(1) == actors::death::crash));
}

BOOST_AUTO_TEST_CASE(an_exit_status_is_told) {
  stage s{"exit 7"};
  s.start();
  BOOST_TEST(s.how_it_ended() == "exit status 7");
}

BOOST_AUTO_TEST_CASE(a_signal_is_told) {
  stage s{"kill -9 $$"};
  s.start();
  BOOST_TEST(s.how_it_ended() == "signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(the_process_is_told_its_place) {
  stage s{"echo \"$@\" > $(dirname $0)/told; exec sleep 1000"};
  s.start(life(2, 5));
  std::string told;
  BOOST_TEST(eventually([&] {
    std::ifstream file{s.folder / "told"};
    return static_cast<bool>(std::getline(file, told));
  }));
  BOOST_TEST(told
             == "--process=2 --life=5 --parent=" + std::to_string(getpid()));
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_started_is_a_failure) {
  stage s{"exit 0"};
  s.use("/no/such/program");
  s.connect();
  s.sut->start(life(1, 1), "part", false);
  BOOST_TEST_REQUIRE(eventually([&] { return s.starts() == 1; }));
  BOOST_TEST((s.started.back().failure.code == core::ec::not_found));
  BOOST_TEST(s.started.back().failure.text
             == "cannot start /no/such/program: No such file or directory; put "
                "it back, or restart the server with processes.program");
  s.sut->end(30s);
  BOOST_TEST(s.exits() == 0u);
}

BOOST_AUTO_TEST_CASE(a_start_without_a_thread_is_a_failure) {
  stage s{"exec sleep 1000"};
  {
    const no_new_threads lack;
    s.sut->start(life(1, 1), "part", false);
    BOOST_TEST_REQUIRE(eventually([&] { return s.starts() == 1; }));
  }
  const auto& why = s.started.back().failure;
  BOOST_TEST((why.code == core::ec::out_of_resources));
  BOOST_TEST(why.text.starts_with("a thread cannot start: "), why.text);
  // Nothing of it is left in the way of the next start.
  s.start(life(1, 2));
  BOOST_TEST(s.exits() == 0u);
}

BOOST_AUTO_TEST_CASE(without_descriptors_there_is_no_spawner) {
  stage s{"exit 0"};
  rlimit before;
  BOOST_TEST_REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto make_with = [&](int left) {
    // The lowest that are free.
    std::vector<int> taken;
    for (int i = 0; i <= left; ++i)
      taken.push_back(dup(STDERR_FILENO));
    for (const int fd : taken)
      close(fd);
    const rlimit few{static_cast<rlim_t>(taken.back()), before.rlim_max};
    BOOST_TEST_REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    auto made = runtime::process_spawner::make(s.options_for("/bin/true"));
    BOOST_TEST_REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    return made;
  };
  // A sanitizer takes a descriptor when it first sees a type.
  BOOST_TEST((core::fail(core::ec::internal, "{}", "seen").text == "seen"));
  for (const int left : {0, 1})
    BOOST_TEST((make_with(left).why().code == core::ec::out_of_resources));
  BOOST_TEST(make_with(2).operator bool());
}

BOOST_AUTO_TEST_CASE(the_places_of_closed_standard_streams_stay_free) {
  // The host may open them again at any time.
  const auto kept = dup(STDIN_FILENO);
  {
    stage s{"exec sleep 1000"};
    s.sut.reset();
    close(STDIN_FILENO);
    s.use((s.folder / "program").string());
    s.connect();
    s.start();
    BOOST_TEST(fcntl(STDIN_FILENO, F_GETFD) == -1);
    dup2(kept, STDIN_FILENO);
  }
  close(kept);
  BOOST_TEST(fcntl(STDIN_FILENO, F_GETFD) == 0);
}

BOOST_AUTO_TEST_CASE(an_end_is_told_though_the_host_closed_all_descriptors) {
  using actors::death;
  for (const bool by_itself : {true, false}) {
    stage s{"exec sleep 1000"};
    const auto pid = s.start();
    close_all("[pidfd]");
    close_all("[eventfd]");
    if (by_itself)
      ::kill(pid, SIGKILL);
    else
      s.sut->kill(life(1, 1));
    BOOST_TEST(s.how_it_ended() == "signal 9 (Killed)");
    BOOST_TEST((s.exited.back().cause
                == (by_itself ? death::outside : death::watchdog)));
    // It goes on, as far as the host lets it.
    s.start(life(1, 2));
  }
}

BOOST_AUTO_TEST_CASE(an_end_is_told_though_the_host_used_the_number_anew) {
  stage s{"exec sleep 1000"};
  const auto pid = s.start();
  const auto anew = open("/dev/null", O_RDWR | O_CLOEXEC);
  auto taken = descriptors_of("[pidfd]");
  for (const int fd : descriptors_of("[eventfd]"))
    taken.push_back(fd);
  BOOST_TEST_REQUIRE(taken.size() == 2u);
  for (const int fd : taken)
    dup3(anew, fd, O_CLOEXEC);
  ::kill(pid, SIGKILL);
  BOOST_TEST(s.how_it_ended() == "signal 9 (Killed)");
  s.sut.reset();
  // They are the host's now.
  for (const int fd : taken)
    BOOST_TEST(close(fd) == 0);
  close(anew);
}

BOOST_AUTO_TEST_CASE(no_process_starts_once_the_host_closed_the_arena) {
  stage s{"exec sleep 1000"};
  const auto other = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup3(other, s.host->descriptor(), O_CLOEXEC);
  close(other);
  s.sut->start(life(1, 1), "part", false);
  BOOST_TEST_REQUIRE(eventually([&] { return s.starts() == 1; }));
  BOOST_TEST((s.started.back().failure.code == core::ec::unavailable));
  BOOST_TEST(s.started.back().failure.text
             == "the host closed descriptors of the engine: restart it");
}

BOOST_AUTO_TEST_CASE(the_end_comes_though_the_host_closed_all_descriptors) {
  stage s{"exec sleep 1000"};
  const auto pid = s.start();
  close_all("[pidfd]");
  close_all("[eventfd]");
  s.sut->end({});
  BOOST_TEST(!exists(pid));
}

BOOST_AUTO_TEST_CASE(a_report_may_send_while_all_ends) {
  // The thread that delivers it must not be the one that ends its own link.
  for (int round = 0; round < 5; ++round) {
    stage s{"exec sleep 1000", stage::begin::later};
    std::atomic<int32_t> pid = 0;
    std::atomic<bool> arrived = false;
    auto how = s.options_for((s.folder / "program").string());
    how.arrived = [&](ipc::process_life who, const actors::from_process&) {
      const auto send = [&] {
        static_cast<void>(s.sut->send({who, actors::role::denoise_step, 0},
                                      actors::cancel_work{}));
      };
      arrived = true;
      while (exists(pid))
        send();
      // The end follows soon.
      for (int i = 0; i < 20'000; ++i)
        send();
    };
    s.use(std::move(how));
    s.connect();
    pid = s.start();
    ipc::ring_writer process{s.host->rings(core::process_id{1})->outbound,
                             {s.host->host_epoch(), core::incarnation{1}}};
    std::vector<std::byte> record;
    actors::write(actors::from_process{actors::pong{life(1, 1), 1}}, record);
    BOOST_TEST_REQUIRE(*process.push(record));
    BOOST_TEST_REQUIRE(eventually([&] { return arrived.load(); }));
    s.sut->end({});
    BOOST_TEST(!exists(pid));
  }
}

BOOST_AUTO_TEST_CASE(kill_ends_a_stopped_process_too) {
  stage s{"exec sleep 1000"};
  const auto pid = s.start();
  ::kill(pid, SIGSTOP);
  s.sut->kill(life(1, 1));
  BOOST_TEST(s.how_it_ended() == "signal 9 (Killed)");
  BOOST_TEST(!exists(pid));
  // A call for another life, or a second call, does nothing.
  s.sut->kill(life(1, 1));
  s.sut->kill(life(1, 2));
  s.sut->kill(life(3, 1));
}

BOOST_AUTO_TEST_CASE(lives_follow_each_other) {
  stage s{"exit 1"};
  for (uint32_t n = 1; n <= 20; ++n) {
    s.start(life(1, n));
    BOOST_TEST_REQUIRE(eventually([&] { return s.exits() == n; }));
    BOOST_TEST_REQUIRE((s.exited.back().process == life(1, n)));
  }
}

BOOST_AUTO_TEST_CASE(the_end_kills_who_does_not_leave) {
  stage s{"exec sleep 1000"};
  const auto first = s.start(life(1, 1));
  const auto second = s.start(life(2, 1));
  ::kill(second, SIGSTOP);
  s.sut->end(50ms);
  BOOST_TEST(!exists(first));
  BOOST_TEST(!exists(second));
  // Nothing is started afterwards, and a second end does nothing.
  s.sut->start(life(3, 1), "part", false);
  s.sut->end(50ms);
  BOOST_TEST(s.starts() == 2u);
}

BOOST_AUTO_TEST_CASE(the_end_overtakes_a_start) {
  for (int round = 0; round < 20; ++round) {
    stage s{"exec sleep 1000"};
    for (uint32_t p = 1; p <= 3; ++p)
      s.sut->start(life(p, 1), "part", false);
    s.sut->end({});
    for (const auto& x : s.started)
      BOOST_TEST(!exists(x.pid));
  }
}

BOOST_AUTO_TEST_CASE(children_get_none_of_the_hosts_descriptors) {
  // Like those of many hosts, these descriptors are not marked as closed by
  // exec.
  int ends[2];
  BOOST_TEST_REQUIRE(pipe(ends) == 0);
  stage s{"exec sleep 1000"};
  const auto pid = s.start();
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  // From then on the shell's own descriptors are closed.
  BOOST_TEST_REQUIRE(eventually([&] {
    std::error_code ignored;
    return fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored)
             .filename()
        == "sleep";
  }));
  for (const auto& fd : fs::directory_iterator(folder)) {
    // Its loader opens and closes libraries meanwhile.
    std::error_code gone;
    const auto what = fs::read_symlink(fd.path(), gone).string();
    if (!gone && fd.path().filename() != std::to_string(STDERR_FILENO))
      BOOST_TEST(what.find("pipe:") == std::string::npos);
  }
  BOOST_TEST(fs::read_symlink(folder + "/0") == "/dev/null");
  BOOST_TEST(fs::read_symlink(folder + "/1") == "/dev/null");
  const auto arena = fs::read_symlink(folder + "/3").string();
  BOOST_TEST(arena.starts_with("/memfd:atelier-arena"), arena);
  close(ends[0]);
  close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_host_that_ignores_child_signals_loses_none) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  {
    stage s{"until [ -e $(dirname $0)/go ]; do sleep 0.01; done; exit 3"};
    s.start();
    const std::ofstream go{s.folder / "go"};
    BOOST_TEST(s.how_it_ended() == "unknown end");
    // Otherwise a request could crash its process again and again.
    BOOST_TEST((s.exited.back().cause == actors::death::crash));
  }
  {
    stage s{"until [ -e $(dirname $0)/go ]; do sleep 0.01; done; exit 0"};
    s.start();
    s.sut->ask_to_leave(life(1, 1));
    const std::ofstream go{s.folder / "go"};
    BOOST_TEST(s.how_it_ended() == "unknown end");
    BOOST_TEST((s.exited.back().cause == actors::death::outside));
  }
  std::signal(SIGCHLD, before);
}

BOOST_AUTO_TEST_CASE(a_program_of_another_build_is_told_with_the_remedy) {
  stage s{"exit 4"};
  s.start();
  const auto told = "the program " + (s.folder / "program").string()
                  + " is of another build: restart the server";
  BOOST_TEST(s.how_it_ended() == "exit status 4");
  BOOST_TEST_REQUIRE(s.reports.size() == 1u);
  const auto& why = std::get<actors::setup_refused>(s.reports[0].body);
  BOOST_TEST((why.process == life(1, 1)));
  BOOST_TEST((why.why.code == core::ec::incompatible));
  BOOST_TEST(why.why.text == told);
}

BOOST_AUTO_TEST_CASE(processes_start_in_the_folder_of_the_spawners_start) {
  const auto before = fs::current_path();
  stage s{"pwd -P > $(dirname $0)/told; exit 0"};
  fs::current_path("/");
  s.start();
  s.how_it_ended();
  fs::current_path(before);
  std::string told;
  std::ifstream file{s.folder / "told"};
  std::getline(file, told);
  BOOST_TEST(told == fs::canonical(before).string());
}

BOOST_AUTO_TEST_CASE(a_kill_that_comes_before_the_process_is_kept) {
  stage s{"exec sleep 1000", stage::begin::later};
  s.sut->start(life(1, 1), "part", false);
  s.sut->kill(life(1, 1));
  s.connect();
  BOOST_TEST(s.how_it_ended() == "signal 9 (Killed)");
  BOOST_TEST((s.exited.back().cause == actors::death::watchdog));
  // The wish was for that life alone.
  s.start(life(1, 2));
  BOOST_TEST(s.exits() == 1u);
}

BOOST_AUTO_TEST_CASE(an_end_that_a_debugger_withholds_is_not_waited_for) {
  // Until its tracer has been told, nobody else can wait for the process: like
  // one that the kernel cannot end.
  stage s{"exec sleep 1000", stage::begin::later};
  s.confirm = 100ms;
  s.use((s.folder / "program").string());
  s.connect();
  const auto pid = s.start();
  int ready[2];
  BOOST_TEST_REQUIRE(pipe(ready) == 0);
  const auto tracer = fork();
  if (tracer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char told = ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 1 : 0;
    if (write(ready[1], &told, 1) == 1)
      for (;;)
        pause();
    _exit(1);
  }
  char traced = 0;
  BOOST_TEST_REQUIRE(read(ready[0], &traced, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  if (traced == 0)
    BOOST_TEST_MESSAGE("skipped: this machine permits no debugger");
  s.sut->end({});
  if (traced != 0) {
    BOOST_TEST(exists(pid));
    BOOST_TEST(s.exits() == 0u);
  }
  ::kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  if (traced != 0)
    BOOST_TEST(waitpid(pid, nullptr, 0) == pid);
}

BOOST_AUTO_TEST_CASE(a_report_that_is_not_the_processs_own_is_dropped) {
  stage s{"exec sleep 1000"};
  s.start(life(1, 1));
  s.start(life(2, 1));
  ipc::ring_writer first{s.host->rings(core::process_id{1})->outbound,
                         {s.host->host_epoch(), core::incarnation{1}}};
  const auto report = [&](const auto& body) {
    std::vector<std::byte> record;
    actors::write(actors::from_process{body}, record);
    BOOST_TEST_REQUIRE(*first.push(record));
  };
  const auto seen = [&] {
    const std::lock_guard guard{s.mutex};
    return s.reports.size();
  };
  actors::worker_ready another;
  another.worker.process = life(2, 1);
  report(another);
  report(actors::pong{life(2, 1), 1});
  report(actors::pong{life(1, 2), 1});
  report(actors::setup_refused{life(2, 1), {}});
  // An answer needs an order, and an order has one answer.
  const core::ticket mine{core::request_id{7}, 1};
  const core::ticket other{core::request_id{8}, 1};
  const auto order = [&](ipc::process_life to, core::ticket x) {
    actors::run_stage what;
    what.ticket = x;
    BOOST_REQUIRE(s.sut->send({to, actors::role::preprocess, 0}, what));
  };
  order(life(1, 1), mine);
  order(life(2, 1), other);
  actors::stepped step;
  step.worker.process = life(1, 1);
  step.rows = {{mine, 1, false}, {other, 1, false}};
  report(step);
  report(actors::stepping{step.worker, {other}});
  actors::stage_done done;
  done.ticket = other;
  report(done);
  done.ticket = mine;
  report(done);
  report(done);
  report(actors::pong{life(1, 1), 2});
  BOOST_TEST(eventually([&] { return seen() == 2; }));
  BOOST_TEST(s.sut->dropped_reports() == 8u);
  const std::lock_guard guard{s.mutex};
  BOOST_TEST((std::get<actors::stage_done>(s.reports[0].body).ticket == mine));
  BOOST_TEST(std::get<actors::pong>(s.reports[1].body).number == 2u);
}

BOOST_AUTO_TEST_CASE(an_end_without_a_trace_is_told_too) {
  // The process may end before it can be watched.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  for (uint32_t n = 1; n <= 20; ++n) {
    stage s{"exit 3"};
    s.use("/bin/true");
    s.connect();
    s.sut->start(life(1, n), "part", false);
    BOOST_TEST(eventually([&] { return s.starts() == 1; }));
    if (s.started.back().failure.code == core::ec::none)
      BOOST_TEST(s.how_it_ended() == "unknown end");
    else
      BOOST_TEST((s.started.back().failure.code == core::ec::unavailable));
  }
  std::signal(SIGCHLD, before);
}

BOOST_AUTO_TEST_CASE(what_waits_in_a_dead_process_ring_is_dropped) {
  stage s{"exit 0"};
  s.start();
  BOOST_TEST(eventually([&] { return s.exits() == 1; }));
  s.sut->ping(life(1, 1), 1);
  s.sut->ask_to_leave(life(1, 1));
  s.start(life(1, 2));
}

BOOST_AUTO_TEST_SUITE_END()
