// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace atelier::bench {

/// Runs a child process that answers each line on its standard input with one
/// line on its standard output. The destructor ends the process.
class duplex_child {
public:
  explicit duplex_child(std::vector<std::string> command) {
    int in[2];
    int out[2];
    // Closed in other children, which would keep this one from its input's end.
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      stop("no pipe");
    pid_ = ::fork();
    if (pid_ < 0)
      stop("no child process");
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      std::vector<char*> argv;
      for (auto& word : command)
        argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
  }

  ~duplex_child() {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  duplex_child(const duplex_child&) = delete;
  duplex_child& operator=(const duplex_child&) = delete;

  /// Returns the next line that the child writes, without its line end.
  std::string read() {
    char* line = nullptr;
    size_t room = 0;
    const auto length = ::getline(&line, &room, from_);
    if (length <= 0)
      stop("a child process ended");
    std::string out{line, static_cast<size_t>(length - 1)};
    std::free(line);
    return out;
  }

  std::string ask(const std::string& line) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
    return read();
  }

  [[noreturn]] static void stop(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::exit(1);
  }

private:
  pid_t pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

} // namespace atelier::bench
