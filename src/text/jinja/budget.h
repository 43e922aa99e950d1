// What a template may spend. Templates come with models, so they are as untrusted as any file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace looseleaf::jinja {

struct Limits {
  int64_t steps = 20'000'000;               // nodes evaluated, or 32 bytes looked at
  int64_t built_bytes = 256 * 1024 * 1024;  // all that is ever built, freed or not
  int64_t output_bytes = 64 * 1024 * 1024;
  int frames = 500;      // statements and expressions inside each other, macros called included
  int value_depth = 64;  // lists inside lists
  int range_items = 100'000;  // jinja2's sandbox has the same limit
};

// Room for every pass that templates make over their input, which may itself be large.
Limits limits_for(size_t input_bytes);

// Counts down; the call that would go below zero is a Fault.
class Budget {
 public:
  explicit Budget(const Limits& limits)
      : limits_(limits), steps_(limits.steps), bytes_(limits.built_bytes) {}

  const Limits& limits() const { return limits_; }
  void step(int64_t count = 1) {
    if ((steps_ -= count) < 0) out_of_steps();
  }
  // For a scan of so many bytes.
  void work(size_t bytes) { step(1 + static_cast<int64_t>(bytes / 32)); }
  // Before so many bytes are built.
  void build(size_t bytes) {
    if (bytes > static_cast<size_t>(bytes_)) out_of_bytes();
    bytes_ -= static_cast<int64_t>(bytes);
  }
  void enter() {
    if (++frames_ > limits_.frames) too_deep();
  }
  void leave() { --frames_; }

 private:
  [[noreturn]] void out_of_steps() const;
  [[noreturn]] void out_of_bytes() const;
  [[noreturn]] void too_deep();

  Limits limits_;
  int64_t steps_;
  int64_t bytes_;
  int frames_ = 0;
};

// One level of nesting, while it lives.
class Frame {
 public:
  explicit Frame(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Frame() { budget_.leave(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Budget& budget_;
};

}  // namespace looseleaf::jinja
