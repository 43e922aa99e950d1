/* Looseleaf as a C ABI: JSON in, JSON out, arrays by pointer. What the Python package stands on.
 *
 * A call that fails returns NULL (or -1) and sets *error to {"error": {"message", "type", "param",
 * "code"}}; `error` may be NULL. Texts are UTF-8, and those that a call returns belong to the
 * caller, who gives them to looseleaf_free. An engine may be used from several threads, which take
 * turns. */
#ifndef LOOSELEAF_LOOSELEAF_C_H_
#define LOOSELEAF_LOOSELEAF_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOOSELEAF_C_EXPORT __attribute__((visibility("default")))

typedef struct looseleaf_engine looseleaf_engine;

/* options: an object of EngineOptions' members, or NULL:
 * {"device", "threads", "context", "cache_bytes", "kv_type", "private_kv_type", "exact",
 * "deterministic"}. */
LOOSELEAF_C_EXPORT looseleaf_engine* looseleaf_open(const char* model, const char* options,
                                                    char** error);
LOOSELEAF_C_EXPORT void looseleaf_close(looseleaf_engine* engine); /* NULL does nothing */

/* body: one of /v1/chat/completions or /v1/completions, with Looseleaf's own fields, or with
 * `question`. Greedy unless it says otherwise. Gives the object of `looseleaf run --json`; with
 * "return_token_ids": true also the prompt's token ids. */
LOOSELEAF_C_EXPORT char* looseleaf_ask(looseleaf_engine* engine, const char* body, char** error);

/* The log-probabilities of `continuation` (JSON: a text, or a list of token ids) after the prompt
 * of `body`, whose max_tokens means nothing here: {"tokens": [int], "logprobs": [number],
 * "prompt_tokens_ids": [int], "looseleaf": as looseleaf_ask}. */
LOOSELEAF_C_EXPORT char* looseleaf_score(looseleaf_engine* engine, const char* body,
                                         const char* continuation, char** error);

/* document: a text, or one of the forms of the body's `documents`. settings: {"layout",
 * "encoding_prefix", "cache_salt"}, or NULL. Gives {"id": chunk's}. */
LOOSELEAF_C_EXPORT char* looseleaf_prefill(looseleaf_engine* engine, const char* document,
                                           const char* settings, char** error);

/* A chunk's keys and values of one layer. shape: {tokens, kv heads, head size}. keys, values:
 * [tokens][kv heads][head size], of `capacity` floats each; keys are rotated at the document's own
 * positions. With keys and values NULL only `shape` is written. Returns 0, or -1. */
LOOSELEAF_C_EXPORT int looseleaf_chunk_kv(looseleaf_engine* engine, const char* chunk_id, int layer,
                                          int32_t shape[3], float* keys, float* values,
                                          size_t capacity, char** error);

/* {"tokens": [int]}, special-token text staying text. */
LOOSELEAF_C_EXPORT char* looseleaf_tokenize(looseleaf_engine* engine, const char* text,
                                            char** error);

LOOSELEAF_C_EXPORT char* looseleaf_describe(
    looseleaf_engine* engine); /* `looseleaf inspect --json` */
LOOSELEAF_C_EXPORT char* looseleaf_cache_stats(looseleaf_engine* engine);
LOOSELEAF_C_EXPORT void looseleaf_clear_cache(looseleaf_engine* engine);
LOOSELEAF_C_EXPORT char* looseleaf_methods(void);       /* `looseleaf methods --json` */
LOOSELEAF_C_EXPORT const char* looseleaf_version(void); /* not to be freed */
LOOSELEAF_C_EXPORT void looseleaf_free(char* text);     /* NULL does nothing */

#ifdef __cplusplus
}
#endif

#endif
