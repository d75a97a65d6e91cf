// Builds an index (index_find.h) over the rows of a row set, whose columns are plain values, and offsets and bytes of
// strings:
//
//   dk_index_keys    writes what a table has of each row: the words of its keys, and behind them its record
//   dk_index_insert  each row marks its key: a bit of its place, or a slot that it claims. Where no two rows of a dense
//                    index should share a key it also writes the row's record; where several may, it counts them, and
//                    notes each row's rank among those of its key
//   dk_index_place   then: counts have become starts, and records stand key by key
//
//   counts of slots   | 0 | 2 | 0 | 1 |     starts | 0 | 0 | 2 | 2 | 3 |     records: 2 of slot 1; 1 of slot 3
//
// A record has the columns that sections fetch side by side (engine/rows/packed_layout.h); where they are too wide,
// there is none, and numbers of rows stand key by key. A row with a NULL among its keys has no slot. Rows of a key
// stand in any order.
#pragma once

#define DK_INDEX_I32 0
#define DK_INDEX_I64 1
#define DK_INDEX_BOOL 2
#define DK_INDEX_F32 3
#define DK_INDEX_F64 4
#define DK_INDEX_I128 5
#define DK_INDEX_TEXT 6

// Of fields of records alone: half of a number of 128 bits, parts of a string, whether the value is there.
#define DK_INDEX_UPPER 7
#define DK_INDEX_ADDRESS 8
#define DK_INDEX_LENGTH 9
#define DK_INDEX_IS_THERE 10

#define DK_INDEX_NO_SLOT 0xFFFFFFFFU

// control, besides DK_INDEX_IS_REPEATED: a key was outside of a dense index; the highest rank of a row
#define DK_INDEX_IS_OUTSIDE 1
#define DK_INDEX_HIGHEST_RANK 2

// Words of the parameters, the same for all of these kernels; what is not there is 0.
#define DK_INDEX_ROWS 0
#define DK_INDEX_BITS 1          // of places: of a dense index that has them
#define DK_INDEX_SLOTS 2         // of a table; rows by place of a dense index
#define DK_INDEX_SPAN 3          // places of a dense index; bits of the number of slots of a table
#define DK_INDEX_LOW 4           // the first key of a dense index
#define DK_INDEX_VALUES 5        // of the key of a dense index
#define DK_INDEX_FORM 6          // of these
#define DK_INDEX_KEYS 7          // of a table: of row 0
#define DK_INDEX_KEY_BYTES 8     // from one row's to the next one's
#define DK_INDEX_KEY_WORDS 9     // that are compared; in the upper half strings, whose addresses are behind these
#define DK_INDEX_FILTER 10       // of a table
#define DK_INDEX_FILTER_BITS 11  // of the number of its words
#define DK_INDEX_SLOTS_OF_ROWS 12
#define DK_INDEX_CONTROL 13
#define DK_INDEX_COUNTS 14  // by slot, where several rows may share a key; then starts
#define DK_INDEX_RANKS 15   // of rows
#define DK_INDEX_BY_KEY 16  // numbers of rows, key by key
#define DK_INDEX_RECORDS 17
#define DK_INDEX_RECORD_BYTES 18  // from one to the next
#define DK_INDEX_FIELDS 19        // their number
#define DK_INDEX_COLUMNS 20       // of the keys, their number
// Then of each column of the keys: values, validity, form; of a string: its bytes. Where its compared words are in the
// key, and in the upper half where its address is.
#define DK_INDEX_FIRST_COLUMN 21
#define DK_INDEX_COLUMN_WORDS 5
// Then of each field, in their order: values, of strings their bytes as well; what is subtracted; and
// form | bytes << 8 | its bits' place in the word << 16 | the record's word << 24.
#define DK_INDEX_FIELD_WORDS 4

// The bits of a field. bytes: of strings.
DK_FN dk_u64 dk_index_field(DK_SPACES_PARAM, dk_u64 values, dk_u64 bytes, dk_i32 form, dk_i64 row) {
  switch (form) {
    case DK_INDEX_I32: return (dk_u64)(dk_i64)DK_AT(const dk_i32, values)[row];
    case DK_INDEX_F32: return DK_AT(const dk_u32, values)[row];
    case DK_INDEX_BOOL: return DK_AT(const dk_u8, values)[row];
    case DK_INDEX_I128: return DK_AT(const dk_u64, values)[2 * row];
    case DK_INDEX_UPPER: return DK_AT(const dk_u64, values)[2 * row + 1];
    case DK_INDEX_ADDRESS: return bytes + DK_AT(const dk_u32, values)[row];
    case DK_INDEX_LENGTH: return DK_AT(const dk_u32, values)[row + 1] - DK_AT(const dk_u32, values)[row];
    case DK_INDEX_IS_THERE: return DK_AT(const dk_u8, values)[row >> 3] >> (row & 7) & 1;
    default: return DK_AT(const dk_u64, values)[row];
  }
}

// Writes a word of a record of so many bytes.
DK_FN void dk_index_put(DK_GLOBAL dk_u8* record, dk_u64 bytes, dk_i32 number, dk_u64 word) {
  if (bytes >= 8)
    ((DK_GLOBAL dk_u64*)record)[number] = word;
  else if (bytes == 4)
    *(DK_GLOBAL dk_u32*)record = (dk_u32)word;
  else if (bytes == 2)
    *(DK_GLOBAL dk_u16*)record = (dk_u16)word;
  else
    *record = (dk_u8)word;
}

// Writes the record of a row. A macro, since a pointer to parameters would have compilers copy all of them.
#define DK_INDEX_WRITE_RECORD(parameters, row, record)                                                              \
  {                                                                                                                 \
    const dk_i32 fields = (dk_i32)parameters.word[DK_INDEX_FIELDS];                                                 \
    const dk_i32 first = DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * (dk_i32)parameters.word[DK_INDEX_COLUMNS]; \
    const dk_u64 record_bytes = parameters.word[DK_INDEX_RECORD_BYTES];                                             \
    dk_u64 word = 0;                                                                                                \
    dk_i32 number = 0;                                                                                              \
    for (dk_i32 i = 0; i < fields; i++) {                                                                           \
      const dk_i32 at = first + DK_INDEX_FIELD_WORDS * i;                                                           \
      const dk_u64 about = parameters.word[at + 3];                                                                 \
      const dk_i32 bytes = (dk_i32)(about >> 8 & 255), place = (dk_i32)(about >> 16 & 255);                         \
      if ((dk_i32)(about >> 24) != number) {                                                                        \
        dk_index_put(record, record_bytes, number, word);                                                           \
        number = (dk_i32)(about >> 24);                                                                             \
        word = 0;                                                                                                   \
      }                                                                                                             \
      const dk_u64 bits =                                                                                           \
          dk_index_field(DK_SPACES_ARG, parameters.word[at], parameters.word[at + 1], (dk_i32)(about & 255), row) - \
          parameters.word[at + 2];                                                                                  \
      word |= (bytes == 8 ? bits : bits & ((DK_U64(1) << (8 * bytes)) - 1)) << place;                               \
    }                                                                                                               \
    if (fields > 0) dk_index_put(record, record_bytes, number, word);                                               \
  }

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

DK_KERNEL void dk_index_keys(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[DK_INDEX_ROWS];
  DK_GLOBAL dk_u8* keys = DK_AT(dk_u8, parameters.word[DK_INDEX_KEYS]);
  const dk_u64 key_bytes = parameters.word[DK_INDEX_KEY_BYTES];
  const dk_i32 columns = (dk_i32)parameters.word[DK_INDEX_COLUMNS];
  const dk_bool has_records = parameters.word[DK_INDEX_COUNTS] == 0 && parameters.word[DK_INDEX_RECORDS] != 0;
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    DK_GLOBAL dk_u64* key = (DK_GLOBAL dk_u64*)(keys + row * key_bytes);
    for (dk_i32 i = 0; i < columns; i++) {
      const dk_i32 at = DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * i;
      const dk_i32 form = (dk_i32)parameters.word[at + 2];
      DK_GLOBAL dk_u64* compared = key + (dk_u32)parameters.word[at + 4];
      if (form == DK_INDEX_TEXT)
        dk_index_text_words(DK_SPACES_ARG, parameters.word[at], parameters.word[at + 3], row, compared,
                            key + (parameters.word[at + 4] >> 32));
      else
        dk_index_key_words(DK_SPACES_ARG, parameters.word[at], form, row, compared);
    }
    if (has_records) {
      DK_GLOBAL dk_u8* record =
          DK_AT(dk_u8, parameters.word[DK_INDEX_RECORDS]) + row * parameters.word[DK_INDEX_RECORD_BYTES];
      DK_INDEX_WRITE_RECORD(parameters, row, record)
    }
  }
}

// The slot of the row's key, which is the row's from now on if it was nobody's. is_new: it was.
DK_FN dk_u64 dk_index_claim(DK_SPACES_PARAM, DK_GLOBAL dk_u64* slots, dk_i32 bits, DK_GLOBAL const dk_u8* keys,
                            dk_u64 key_bytes, dk_i32 compared, dk_i32 texts, dk_i64 row, dk_u64 hash,
                            DK_PRIVATE dk_bool* is_new) {
  const dk_u64 last = ((dk_u64)1 << bits) - 1, entry = dk_index_entry(hash, (dk_u32)row);
  DK_GLOBAL const dk_u64* key = (DK_GLOBAL const dk_u64*)(keys + row * key_bytes);
  dk_u64 slot = hash >> (64 - bits);
  dk_bool found = 0;
  while (!found) {
    const dk_u64 other = dk_atomic_cas_global_u64(slots + slot, 0, entry);
    *is_new = other == 0;
    found = *is_new;
    if (!found && dk_index_may_be(other, hash)) {
      DK_GLOBAL const dk_u64* at = (DK_GLOBAL const dk_u64*)(keys + dk_index_row(other) * key_bytes);
      found = dk_index_has_key_of_row(DK_SPACES_ARG, at, key, compared, texts);
    }
    if (!found) slot = (slot + 1) & last;
  }
  return slot;
}

DK_KERNEL void dk_index_insert(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[DK_INDEX_ROWS];
  const dk_bool is_table = parameters.word[DK_INDEX_KEYS] != 0, may_repeat = parameters.word[DK_INDEX_COUNTS] != 0;
  DK_GLOBAL dk_u32* places = DK_AT(dk_u32, parameters.word[DK_INDEX_BITS]);
  DK_GLOBAL dk_u32* rows_of_places = DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS]);
  DK_GLOBAL const dk_u8* keys = DK_AT(const dk_u8, parameters.word[DK_INDEX_KEYS]);
  const dk_u64 key_bytes = parameters.word[DK_INDEX_KEY_BYTES];
  const dk_i32 compared = (dk_i32)(dk_u32)parameters.word[DK_INDEX_KEY_WORDS];
  const dk_i32 texts = (dk_i32)(parameters.word[DK_INDEX_KEY_WORDS] >> 32);
  DK_GLOBAL dk_u32* filter = DK_AT(dk_u32, parameters.word[DK_INDEX_FILTER]);
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[DK_INDEX_COUNTS]);
  DK_GLOBAL dk_u32* control = DK_AT(dk_u32, parameters.word[DK_INDEX_CONTROL]);
  const dk_i32 columns = (dk_i32)parameters.word[DK_INDEX_COLUMNS];
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    dk_bool is_found = 1, is_new = 1;
    for (dk_i32 i = 0; i < columns; i++) {
      const dk_u64 validity = parameters.word[DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * i + 1];
      if (validity != 0 && (DK_AT(const dk_u8, validity)[row >> 3] >> (row & 7) & 1) == 0) is_found = 0;
    }
    dk_u64 slot = 0;
    if (is_found && is_table) {
      const dk_u64 hash = dk_index_hash((DK_GLOBAL const dk_u64*)(keys + row * key_bytes), compared);
      slot =
          dk_index_claim(DK_SPACES_ARG, DK_AT(dk_u64, parameters.word[DK_INDEX_SLOTS]),
                         (dk_i32)parameters.word[DK_INDEX_SPAN], keys, key_bytes, compared, texts, row, hash, &is_new);
      if (is_new && parameters.word[DK_INDEX_FILTER] != 0)
        dk_atomic_or_global_u32(filter + (hash >> (64 - parameters.word[DK_INDEX_FILTER_BITS])),
                                dk_index_filter_bits(hash));
    } else if (is_found) {
      const dk_i64 key = parameters.word[DK_INDEX_FORM] == DK_INDEX_I32
                             ? (dk_i64)DK_AT(const dk_i32, parameters.word[DK_INDEX_VALUES])[row]
                             : DK_AT(const dk_i64, parameters.word[DK_INDEX_VALUES])[row];
      slot = (dk_u64)key - parameters.word[DK_INDEX_LOW];
      if (slot >= parameters.word[DK_INDEX_SPAN]) {
        is_found = 0;
        dk_atomic_store_global_u32(control + DK_INDEX_IS_OUTSIDE, 1);
      }
    }
    if (may_repeat) {
      dk_u32 rank = 0;
      if (is_found) rank = dk_count_up_global_u32(counts + slot);
      if (rank > dk_atomic_load_global_u32(control + DK_INDEX_HIGHEST_RANK))
        dk_atomic_max_global_u32(control + DK_INDEX_HIGHEST_RANK, rank);
      DK_AT(dk_u32, parameters.word[DK_INDEX_RANKS])[row] = rank;
      DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS_OF_ROWS])[row] = is_found ? (dk_u32)slot : DK_INDEX_NO_SLOT;
    } else if (is_found) {
      if (!is_table && parameters.word[DK_INDEX_BITS] != 0) {
        const dk_u32 bit = 1U << (dk_u32)(slot & 31);
        is_new = (dk_atomic_or_global_u32(places + (slot >> 5), bit) & bit) == 0;
      }
      if (!is_new) dk_atomic_store_global_u32(control + DK_INDEX_IS_REPEATED, 1);
      if (!is_table) {
        const dk_bool has_rows = parameters.word[DK_INDEX_SLOTS] != 0;
        if (has_rows) rows_of_places[slot] = (dk_u32)row;
        if (parameters.word[DK_INDEX_RECORDS] != 0) {
          DK_GLOBAL dk_u8* record = DK_AT(dk_u8, parameters.word[DK_INDEX_RECORDS]) +
                                    (has_rows ? (dk_u64)row : slot) * parameters.word[DK_INDEX_RECORD_BYTES];
          DK_INDEX_WRITE_RECORD(parameters, row, record)
        }
      }
    }
  }
}

DK_KERNEL void dk_index_place(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  const dk_i64 rows = (dk_i64)parameters.word[DK_INDEX_ROWS];
  DK_GLOBAL const dk_u32* slots_of_rows = DK_AT(const dk_u32, parameters.word[DK_INDEX_SLOTS_OF_ROWS]);
  DK_GLOBAL const dk_u32* ranks = DK_AT(const dk_u32, parameters.word[DK_INDEX_RANKS]);
  DK_GLOBAL const dk_u32* starts = DK_AT(const dk_u32, parameters.word[DK_INDEX_COUNTS]);
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += step) {
    const dk_u32 slot = slots_of_rows[row];
    if (slot == DK_INDEX_NO_SLOT) continue;
    const dk_u64 place = starts[slot] + ranks[row];
    if (parameters.word[DK_INDEX_RECORDS] != 0) {
      DK_GLOBAL dk_u8* record =
          DK_AT(dk_u8, parameters.word[DK_INDEX_RECORDS]) + place * parameters.word[DK_INDEX_RECORD_BYTES];
      DK_INDEX_WRITE_RECORD(parameters, row, record)
    } else {
      DK_AT(dk_u32, parameters.word[DK_INDEX_BY_KEY])[place] = (dk_u32)row;
    }
  }
}
