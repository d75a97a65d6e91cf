// Builds an index (index_find.h) over the rows of a row set, whose columns are plain values, and offsets and bytes of
// strings:
//
//   dk_index_keys    words of each row's keys, for a table
//   dk_index_insert  each row marks its key: a bit of its place, or a slot that it claims
//   dk_index_rank    where some key has several rows: the rank of each row among those of its key, and their counts
//   dk_index_place   then: counts have become starts, and rows stand key by key
//
//   slots   | - | 3 | - | 1 |     starts | 0 | 0 | 2 | 2 | 3 |     rows of slot 1: 2, 1; of slot 3: 0
//   rows    | 2 | 1 | 0 |
//
// A row with a NULL among its keys has no slot. Rows of a key stand in any order.
#pragma once

#define DK_INDEX_I32 0
#define DK_INDEX_I64 1
#define DK_INDEX_BOOL 2
#define DK_INDEX_F32 3
#define DK_INDEX_F64 4
#define DK_INDEX_I128 5
#define DK_INDEX_TEXT 6

#define DK_INDEX_NO_SLOT 0xFFFFFFFFU

// control: a key has several rows; a key was outside of a dense index; the highest rank of a row
#define DK_INDEX_IS_REPEATED 0
#define DK_INDEX_IS_OUTSIDE 1
#define DK_INDEX_HIGHEST_RANK 2

// Writes the compared words of a key of the row, that is no string, the first at key[0].
DK_FN void dk_index_key_words(DK_SPACES_PARAM, dk_u64 values, dk_i32 form, dk_i64 row, DK_GLOBAL dk_u64* key) {
  if (form == DK_INDEX_I32) {
    key[0] = (dk_u64)(dk_i64)DK_AT(const dk_i32, values)[row];
  } else if (form == DK_INDEX_I64) {
    key[0] = DK_AT(const dk_u64, values)[row];
  } else if (form == DK_INDEX_BOOL) {
    key[0] = DK_AT(const dk_u8, values)[row] != 0;
  } else if (form == DK_INDEX_F32) {
    key[0] = dk_key_word_f64((dk_f64)DK_AT(const dk_f32, values)[row]);
  } else if (form == DK_INDEX_F64) {
    key[0] = dk_key_word_f64(DK_AT(const dk_f64, values)[row]);
  } else {
    key[0] = DK_AT(const dk_u64, values)[2 * row];
    key[1] = DK_AT(const dk_u64, values)[2 * row + 1];
  }
}

// Of a string: its compared word, and where it is.
DK_FN void dk_index_text_words(DK_SPACES_PARAM, dk_u64 offsets, dk_u64 bytes, dk_i64 row, DK_GLOBAL dk_u64* compared,
                               DK_GLOBAL dk_u64* address) {
  DK_GLOBAL const dk_u32* at = DK_AT(const dk_u32, offsets) + row;
  dk_text text;
  text.data = DK_AT(const char, bytes) + at[0];
  text.length = (dk_i32)(at[1] - at[0]);
  *compared = dk_text_key(text);
  *address = dk_text_address(DK_SPACES_ARG, text);
}

// words of the parameters: rows, keys, words of a key, columns; then of each column: values, form, where its compared
// words are in the key; of a string: its bytes, and where its address is
DK_KERNEL void dk_index_keys(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  const dk_i32 words = (dk_i32)parameters.word[2];
  const dk_i32 columns = (dk_i32)parameters.word[3];
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    DK_GLOBAL dk_u64* key = keys + row * words;
    for (dk_i32 i = 0; i < columns; i++) {
      const dk_u64 values = parameters.word[4 + 5 * i];
      const dk_i32 form = (dk_i32)parameters.word[5 + 5 * i];
      DK_GLOBAL dk_u64* compared = key + parameters.word[6 + 5 * i];
      if (form == DK_INDEX_TEXT)
        dk_index_text_words(DK_SPACES_ARG, values, parameters.word[7 + 5 * i], row, compared,
                            key + parameters.word[8 + 5 * i]);
      else
        dk_index_key_words(DK_SPACES_ARG, values, form, row, compared);
    }
  }
}

// The slot of the row's key, which is the row's from now on if it was nobody's. is_new: it was.
DK_FN dk_u64 dk_index_claim(DK_SPACES_PARAM, DK_GLOBAL dk_u32* slots, dk_i32 bits, DK_GLOBAL const dk_u64* keys,
                            dk_i32 compared, dk_i32 texts, dk_i64 row, dk_u64 hash, DK_PRIVATE dk_bool* is_new) {
  const dk_u64 last = ((dk_u64)1 << bits) - 1;
  DK_GLOBAL const dk_u64* key = keys + row * (compared + texts);
  dk_u64 slot = hash >> (64 - bits);
  dk_bool found = 0;
  while (!found) {
    const dk_u32 other = dk_atomic_cas_global_u32(slots + slot, 0, (dk_u32)row + 1);
    found = 1;
    if (other != 0) {
      DK_GLOBAL const dk_u64* at = keys + (dk_u64)(other - 1) * (dk_u64)(compared + texts);
      found = dk_index_has_key_of_row(DK_SPACES_ARG, at, key, compared, texts);
    }
    *is_new = other == 0;
    if (!found) slot = (slot + 1) & last;
  }
  return slot;
}

// words of the parameters: rows; bits of places, 0: it is a table; slots, 0: none are wanted; their number (dense), or
// bits of it (table); the first key of a dense index; values of a dense index; their form; keys of a table; words of a
// key that are compared, and strings of it in the upper half; filter of a table, 0: there is none; bits of its words'
// number; slots of rows; control; columns; then of each column: validity, 0: no row is NULL
DK_KERNEL void dk_index_insert(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL dk_u32* places = DK_AT(dk_u32, parameters.word[1]);
  DK_GLOBAL dk_u32* slots = DK_AT(dk_u32, parameters.word[2]);
  DK_GLOBAL const dk_u64* keys = DK_AT(const dk_u64, parameters.word[7]);
  const dk_i32 compared = (dk_i32)(dk_u32)parameters.word[8];
  const dk_i32 texts = (dk_i32)(parameters.word[8] >> 32);
  DK_GLOBAL dk_u32* filter = DK_AT(dk_u32, parameters.word[9]);
  DK_GLOBAL dk_u32* slots_of_rows = DK_AT(dk_u32, parameters.word[11]);
  DK_GLOBAL dk_u32* control = DK_AT(dk_u32, parameters.word[12]);
  const dk_i32 columns = (dk_i32)parameters.word[13];
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    dk_bool is_found = 1, is_new = 1;
    for (dk_i32 i = 0; i < columns; i++) {
      const dk_u64 validity = parameters.word[14 + i];
      if (validity != 0 && (DK_AT(const dk_u8, validity)[row >> 3] >> (row & 7) & 1) == 0) is_found = 0;
    }
    dk_u64 slot = 0;
    if (is_found && parameters.word[1] == 0) {
      const dk_u64 hash = dk_index_hash(keys + row * (compared + texts), compared);
      slot =
          dk_index_claim(DK_SPACES_ARG, slots, (dk_i32)parameters.word[3], keys, compared, texts, row, hash, &is_new);
      if (is_new && parameters.word[9] != 0)
        dk_atomic_or_global_u32(filter + (hash >> (64 - parameters.word[10])), dk_index_filter_bits(hash));
    } else if (is_found) {
      const dk_i64 key = parameters.word[6] == DK_INDEX_I32 ? (dk_i64)DK_AT(const dk_i32, parameters.word[5])[row]
                                                            : DK_AT(const dk_i64, parameters.word[5])[row];
      slot = (dk_u64)key - parameters.word[4];
      if (slot < parameters.word[3]) {
        const dk_u32 bit = 1U << (dk_u32)(slot & 31);
        is_new = (dk_atomic_or_global_u32(places + (slot >> 5), bit) & bit) == 0;
        if (is_new && parameters.word[2] != 0) slots[slot] = (dk_u32)row;
      } else {
        is_found = 0;
        dk_atomic_store_global_u32(control + DK_INDEX_IS_OUTSIDE, 1);
      }
    }
    if (!is_new) dk_atomic_store_global_u32(control + DK_INDEX_IS_REPEATED, 1);
    slots_of_rows[row] = is_found ? (dk_u32)slot : DK_INDEX_NO_SLOT;
  }
}

// words of the parameters: rows, slots of rows, counts by slot, ranks of rows, control
DK_KERNEL void dk_index_rank(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u32* slots_of_rows = DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[2]);
  DK_GLOBAL dk_u32* ranks = DK_AT(dk_u32, parameters.word[3]);
  DK_GLOBAL dk_u32* control = DK_AT(dk_u32, parameters.word[4]);
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    const dk_u32 slot = slots_of_rows[row];
    if (slot == DK_INDEX_NO_SLOT) continue;
    const dk_u32 rank = dk_atomic_add_global_u32(counts + slot, 1);
    if (rank > dk_atomic_load_global_u32(control + DK_INDEX_HIGHEST_RANK))
      dk_atomic_max_global_u32(control + DK_INDEX_HIGHEST_RANK, rank);
    ranks[row] = rank;
  }
}

// words of the parameters: rows, slots of rows, ranks of rows, starts by slot, rows by key
DK_KERNEL void dk_index_place(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u32* slots_of_rows = DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL const dk_u32* ranks = DK_AT(const dk_u32, parameters.word[2]);
  DK_GLOBAL const dk_u32* starts = DK_AT(const dk_u32, parameters.word[3]);
  DK_GLOBAL dk_u32* by_key = DK_AT(dk_u32, parameters.word[4]);
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    const dk_u32 slot = slots_of_rows[row];
    if (slot != DK_INDEX_NO_SLOT) by_key[starts[slot] + ranks[row]] = (dk_u32)row;
  }
}
