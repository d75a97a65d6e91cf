// Rows on their way to partitions, kept in the shared memory of a work-group until it is full, and then written in the
// order of the partitions. Written one by one as they come, those of a work-group's neighbouring items go to places
// that lie far apart: lines leave the cache before they are full, and every row is on another page.
//
//   places     by partition: where its next row goes                          u32
//   counts     by partition: rows of it that are kept                         u32
//   of         by entry: |partition|number among those of it|                 16 bits each
//   rows       by entry: a row of `words` words (group_rows.h)
//   order      entries, those of partition 0 first                            u16
//
// The first two begin the room, with as many words each as there are partitions, 16 or more; the others have `capacity`
// entries, a multiple of 4 and at most 65536. Counts are 0 at first.
#pragma once

DK_SHARED_FN DK_LOCAL dk_u32* dk_stage_of(DK_LOCAL dk_u32* room, dk_i32 partitions) { return room + 2 * partitions; }
DK_SHARED_FN DK_LOCAL dk_u32* dk_stage_rows(DK_LOCAL dk_u32* room, dk_i32 partitions, dk_u32 capacity) {
  return dk_stage_of(room, partitions) + capacity;
}

// Keeps a row as an entry that no other has.
DK_SHARED_FN void dk_stage_keep(DK_LOCAL dk_u32* room, dk_i32 partitions, dk_u32 capacity, dk_u32 entry,
                                dk_u32 partition, DK_PRIVATE const dk_u32* row, dk_i32 words) {
  DK_LOCAL dk_u32* to = dk_stage_rows(room, partitions, capacity) + entry * (dk_u32)words;
  DK_UNROLL for (dk_i32 i = 0; i < words; i++) { to[i] = row[i]; }
  dk_stage_of(room, partitions)[entry] = partition << 16 | dk_atomic_add_local_u32(room + partitions + partition, 1);
}

// Writes the entries below `kept` to `rows`, and keeps none any more. Called by the whole work-group. Those of a
// partition go to the places before its next one, the last number first.
DK_SHARED_FN void dk_stage_write(DK_LOCAL dk_u32* room, dk_i32 partitions, dk_u32 capacity, dk_u32 kept,
                                 DK_GLOBAL dk_u32* rows, dk_i32 words, DK_LOCAL dk_u64* scratch) {
  DK_LOCAL dk_u32* places = room;
  DK_LOCAL dk_u32* counts = room + partitions;
  DK_LOCAL const dk_u32* of = dk_stage_of(room, partitions);
  DK_LOCAL dk_u32* from = dk_stage_rows(room, partitions, capacity);
  DK_LOCAL dk_u16* order = (DK_LOCAL dk_u16*)(from + capacity * (dk_u32)words);
  const dk_i32 each = (partitions + DK_GROUP_SIZE - 1) / DK_GROUP_SIZE;
  const dk_i32 first = DK_LOCAL_ID * each;
  const dk_i32 last = first + each < partitions ? first + each : partitions;
  DK_BARRIER();
  dk_u32 mine = 0;
  for (dk_i32 i = first; i < last; i++) mine += counts[i];
  dk_u32 all;
  dk_u32 end = dk_block_scan_u32(mine, scratch, &all);
  for (dk_i32 i = first; i < last; i++) {
    const dk_u32 count = counts[i];
    places[i] += count;
    end += count;
    counts[i] = end;
  }
  DK_BARRIER();
  for (dk_u32 entry = (dk_u32)DK_LOCAL_ID; entry < kept; entry += DK_GROUP_SIZE) {
    const dk_u32 at = of[entry];
    order[counts[at >> 16] - 1 - (at & 0xFFFFU)] = (dk_u16)entry;
  }
  DK_BARRIER();
  for (dk_i32 i = DK_LOCAL_ID; i < partitions; i += DK_GROUP_SIZE) counts[i] = 0;
  // Four words of a row at a time, so that neighbouring items write what lies side by side.
  const dk_u32 parts = words > 4 ? (dk_u32)words / 4 : 1U;
  const dk_i32 part_words = words > 4 ? 4 : words;
  for (dk_u32 i = (dk_u32)DK_LOCAL_ID; i < kept * parts; i += DK_GROUP_SIZE) {
    const dk_u32 entry = order[i / parts];
    const dk_u32 at = of[entry];
    const dk_u32 word = i % parts * 4;
    dk_u32 row[4];
    DK_UNROLL for (dk_i32 j = 0; j < part_words; j++) row[j] = from[entry * (dk_u32)words + word + (dk_u32)j];
    const dk_u64 place = places[at >> 16] - 1 - (at & 0xFFFFU);
    dk_store_row(rows + place * (dk_u64)words + word, row, part_words);
  }
  DK_BARRIER();
}
