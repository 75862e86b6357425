#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "serve/commands.h"
#include "serve/handlers.h"
#include "serve/http_server.h"
#include "serve/log_lines.h"
#include "serve/model_path.h"
#include "serve/served_model.h"

namespace bet {
namespace {

struct HttpCommand {
  std::string model;
  std::vector<std::string> lists;  // "NAME=FILE"
  std::string titles;              // a file; empty: there are none
  std::string token_file;          // empty: there is no token
  std::string log = "text";
  HttpOptions http;
  std::size_t threads = 0;  // one per core
  double timeout_seconds = 10;
  bool allow_updates = false;
};

std::string described(const std::string& path, const ModelWithLists& served) {
  const Model& model = *served.model;
  std::string text = str_cat(path, " (", model.num_users(), " users, ", model.num_items(),
                             " items, ", model.summary().file_bytes, " bytes)");
  for (const auto& [name, set] : served.lists) {
    text += str_cat(", list ", in_quotes(name), " (", set.size(), " items)");
  }
  if (served.titles != nullptr) {
    text += str_cat(", titles of ", served.items_with_title, " items (",
                    served.titles->size() - served.items_with_title, " of unknown ones)");
  }
  return text;
}

// NAME=FILE each.
std::map<std::string, std::string> list_files(const std::vector<std::string>& lists) {
  std::map<std::string, std::string> files;
  for (const std::string& list : lists) {
    const std::size_t equals = list.find('=');
    BET_CHECK(equals != std::string::npos && equals > 0 && equals + 1 < list.size(), "--list ",
              in_quotes(list), ": expected NAME=FILE");
    const bool is_new = files.emplace(list.substr(0, equals), list.substr(equals + 1)).second;
    BET_CHECK(is_new, "--list ", in_quotes(list), ": there are two lists of this name");
  }
  return files;
}

// The log beside the model file.
void open_events(const std::string& model, const std::string& path, std::optional<EventLog>& events,
                 LogLines& log) {
  BET_CHECK(model == path, model,
            ": is a run folder, whose files say what was trained; --allow-updates writes to the "
            "model file: give it a copy of ",
            path);
  events.emplace(path + ".events");
  if (events->cut_bytes() > 0) {
    log.add(str_cat(path, ".events: ", events->cut_bytes(),
                    " bytes at its end were not written to their end and are cut off; nobody was "
                    "told that they were"));
  }
}

sigset_t our_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
  return signals;
}

void serve(const HttpCommand& command) {
  // Before threads start, which inherit the mask: only sigwait below receives signals.
  const sigset_t signals = our_signals();
  BET_CHECK(::pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0, "cannot block signals");
  std::signal(SIGPIPE, SIG_IGN);  // the reader of stderr may go away without ending the server
  const bool json = command.log == "json";
  LogLines log(STDERR_FILENO, json ? LogLines::Form::kJson : LogLines::Form::kText);
  Metrics metrics;
  const std::string path = model_path(command.model);
  std::optional<EventLog> events;
  if (command.allow_updates) open_events(command.model, path, events, log);
  ServedModel model({path, list_files(command.lists), command.titles},
                    {[&](const std::string& error) {
                       metrics.count_reload(error.empty());
                       log.add(error.empty() ? "reloaded " + described(path, *model.current())
                                             : error + "; still serving the previous model");
                     },
                     [&](bool /*good*/, const std::string& text) { log.add(text); }},
                    events ? &*events : nullptr);
  std::optional<BearerToken> token;
  if (!command.token_file.empty()) token = BearerToken::read(command.token_file);
  Handlers::AddEvents add_events;
  if (events) {
    add_events = [&](const std::vector<Event>& more) {
      const std::size_t added = events->add(more);
      if (added > 0) model.add_events_soon();
      return added;
    };
  }
  const Handlers handlers([&] { return model.current(); }, metrics, token, add_events);
  HttpOptions options = command.http;
  if (json) options.on_answer = [&](const AccessEntry& entry) { log.add(entry); };
  HttpServer server(options, handlers, metrics);
  log.add(str_cat("http://", server.address(), " serves ", described(path, *model.current())));
  if (!server.is_loopback()) {
    log.add(
        str_cat(server.address(), " can be reached from other machines, and ",
                token ? "the token is not encrypted on its way" : "there is no authentication"));
  }
  for (;;) {
    int signal = 0;
    BET_CHECK(::sigwait(&signals, &signal) == 0, "cannot wait for signals");
    if (signal != SIGHUP) break;
    model.reload_soon();
  }
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second one ends the process at once
  log.add("stopping when the requests in progress are answered");
  server.stop();
}

}  // namespace

void add_http(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("http", "serve recommendations over HTTP");
  const auto options = std::make_shared<HttpCommand>();  // owned by the parser's callback
  HttpOptions& http = options->http;
  command.add_option("MODEL", options->model, str_cat(kModelHelp, "; SIGHUP reloads it"))
      ->required();
  command
      .add_option("--list", options->lists,
                  "NAME=FILE: a list of items, one id a line, for only_list=NAME; repeatable; "
                  "SIGHUP reloads it")
      ->allow_extra_args(false);
  command.add_option("--titles", options->titles,
                     "titles of items to show beside their ids: CSV or TSV with columns id and "
                     "title; SIGHUP reloads it");
  command.add_flag("--allow-updates", options->allow_updates,
                   "take new users, items and interactions (POST /events): into MODEL.events, and "
                   "from there into MODEL");
  command.add_option("--port", http.port, "port to listen on; 0: any free one")->required();
  command.add_option("--host", http.host, "name or address to listen on")->capture_default_str();
  command
      .add_option(
          "--allowed-host", http.allowed_hosts,
          "host of requests to answer, besides loopback ones; repeatable; without it, a server "
          "on loopback answers for no other host and one elsewhere for all")
      ->allow_extra_args(false);
  command.add_option("--token-file", options->token_file,
                     "a file with a token that requests must have (Authorization: Bearer TOKEN), "
                     "on all paths but /healthz");
  command
      .add_option("--log", options->log,
                  "text: messages alone; json: messages and a line for every request, with its id")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      .add_option("--threads", options->threads, "threads that answer requests; 0: one per core")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command
      .add_option("--queue", http.queue_limit,
                  "requests that may wait for a thread; further ones get 503")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--max-body", http.max_body_bytes, "maximum size of a request's body, in bytes")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  command
      .add_option(
          "--timeout", options->timeout_seconds,
          "seconds for a request to arrive, to wait for a thread, and for its answer to be read")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command.callback([options] {
    const std::size_t cores = std::clamp(std::thread::hardware_concurrency(), 1U, 256U);
    options->http.num_threads = options->threads > 0 ? options->threads : cores;
    options->http.timeout =
        std::chrono::milliseconds(static_cast<long>(options->timeout_seconds * 1000));
    serve(*options);
  });
}

}  // namespace bet
