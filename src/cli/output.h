// What commands write: answers to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// Process exit codes.
inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;   // a request or data
inline constexpr int kExitUsage = 2;     // the command line
inline constexpr int kExitInternal = 3;  // a bug or a broken machine

// Tells of an error, if there is one, and gives the exit code.
int report(const Status& status);

// Writes at once, so that a reader sees an answer grow. Errors: kUnavailable (closed, disk full);
// after the first one nothing is written any more and every call gives that error again.
Status write_output(std::string_view text);

// "looseleaf: MESSAGE", on one line whatever the message holds.
void print_error(std::string_view message);
void print_warning(std::string_view message);
void print_note(std::string_view message);  // without the program's name

}  // namespace looseleaf
