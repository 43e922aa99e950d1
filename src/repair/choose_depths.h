// From the question's attention to depths, by the options that methods share.
#pragma once

#include <cstdint>
#include <vector>

#include "repair/method.h"

namespace looseleaf {

inline constexpr MethodOption kSpansOption = {
    "spans", "0", "0..64", "average the scores over so many tokens on both sides first"};
inline constexpr MethodOption kSoftmaxOption = {
    "softmax", "all", "all|documents", "scores are shares of all attention, or of the documents'"};
inline constexpr MethodOption kRowsOption = {
    "rows", "all", "all|1..4096",
    "whose attention the scores are: of all the question's text, or of its so many last tokens"};
inline constexpr MethodOption kAnchorsOption = {
    "anchors", "0", "0..1024",
    "the first so many tokens of every document but the first are recomputed too, in all layers"};
inline constexpr MethodOption kLayersOption = {
    "layers", "all", "all|upper|joint|joint-late",
    "which layers choose: each its own anchors, each of the upper half, or all together the depths "
    "with the most squared attention for each layer computed; joint-late: times the layer's "
    "number"};
inline constexpr MethodOption kNestedOption = {
    "nested", "1", "0|1", "each target down to the deepest layer that wants it, or all the way"};

// RepairPlan::depths of one set for all layers: the top of the scores' mean. Of the options above
// `spans` and `anchors` count.
std::vector<int32_t> choose_one_set(const Method& method, const RepairInput& input, double ratio);

// RepairPlan::depths of what the layers choose. `layers` and `nested` count too.
std::vector<int32_t> choose_by_layer(const Method& method, const RepairInput& input, double ratio);

}  // namespace looseleaf
