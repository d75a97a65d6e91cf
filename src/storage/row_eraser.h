// Takes rows out of a table: the tablets that have some of them are written anew without them.
//
//   tablets before   [full][full][full][full][frag 40]        rows of the second, third and last go
//   tablets after    [full][full][rest of them][full][frag 38]
//
// What is left of up to eight neighbours is put together, so that a table of which many rows go becomes shorter.
// Tablets that lose nothing stay, with their ids and what caches have of them.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "storage/tablet_storage.h"

namespace diptych {

// On the arena's threads. positions: in ascending order, each once. The statistics stay, as those of rows that are
// mostly there. Errors: 53100, 53200, 58030, XX001; 57014 once *cancelled, which may be null, is true. Then the state
// is as it was.
void erase_rows(const TabletStorage& storage, tbb::task_arena& arena, TableState& state,
                std::span<const int64_t> positions, const std::atomic<bool>* cancelled);

}  // namespace diptych
