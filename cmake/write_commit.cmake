# Run at each build: writes OUTPUT, a header with the commit that SOURCE_DIR stands at, when that has changed.
# A tree that differs from its commit gets a "+" behind it; no repository gives "unknown".
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit "+")
  endif()
endif()
set(content "#define LOOSELEAF_COMMIT \"${commit}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT content STREQUAL "${before}")
  file(WRITE ${OUTPUT} "${content}")
endif()
