// The fields of a body that say how the next token is drawn and when to stop.
#pragma once

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// Reads temperature, top_k, top_p, min_p, the penalties, logit_bias and seed over what is there.
Status read_sampling(ObjectReader& body, Sampling& sampling);

// `stop`: a string or a list of strings, none of them empty.
Status read_stop(ObjectReader& body, std::vector<std::string>& stop);

// `logprobs` and `top_logprobs`, which differ: chat has a flag and a count, completions a count.
Status read_logprobs(ObjectReader& body, bool chat, int& logprobs);

}  // namespace looseleaf
