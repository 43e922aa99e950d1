// Flags that commands share: which model and how it runs, and how answers are made.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct ModelFlags {
  std::string model;
  EngineOptions engine;
};

// These write into `flags`, which must outlive `app`.
void add_model_flag(CLI::App& app, ModelFlags& flags);
void add_engine_flags(CLI::App& app, ModelFlags& flags);

// Errors: kUsage (no model was named).
Status check_model(const ModelFlags& flags);

// Loads it, and warns where `auto` could not take the GPU. Errors: those of Engine::load.
Expected<Engine> load_engine(const ModelFlags& flags);

struct RequestFlags {
  Request request;  // all that the flags below say; nothing that is asked
  std::optional<int> max_tokens;
  bool echo_tokens = false;
  std::vector<std::string> stop;        // as given; see finish_request_flags
  std::vector<std::string> logit_bias;  // the same
};

void add_request_flags(CLI::App& app, RequestFlags& flags);

// Checks the repeated flags and puts them into the request, once parsing is over.
Status finish_request_flags(RequestFlags& flags);

}  // namespace looseleaf
