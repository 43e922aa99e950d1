// Float rows to and from the stored types of a page.
#pragma once

#include "compute/kv_layout.h"

namespace looseleaf {

// Reads `count` consecutive tokens of one head's K or V. `head` is the page's piece of that head
// (page + key_offset or value_offset). out: [count, head_dim]
void load_kv(const KvLayout& layout, const std::byte* head, int first_slot, int count, float* out);

// Writes one token. row: [head_dim]
void store_kv(const KvLayout& layout, std::byte* head, int slot, const float* row);

// Copies one token as it is stored. REQUIRES: both layouts have the same type and head_dim.
void copy_kv(const KvLayout& from_layout, const std::byte* from, int from_slot,
             const KvLayout& to_layout, std::byte* to, int to_slot);

}  // namespace looseleaf
