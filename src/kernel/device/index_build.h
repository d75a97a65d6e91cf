// Builds an index (index_find.h) over the rows of a row set, whose columns are plain values, and offsets and bytes of
// strings:
//
//   dk_index_insert_places  dense: each row marks the place of its key, or counts for it, and writes its record
//   dk_index_insert_slots   table: each row claims a slot, or counts for the one that has its key, and writes its key
//                           and record
//   dk_index_place          where several rows may share a key: counts have become starts, and records stand key by key
//
//   counts of slots   | 0 | 2 | 0 | 1 |     starts | 0 | 0 | 2 | 2 | 3 |     records: 2 of slot 1; 1 of slot 3
//
// A record has the columns that sections fetch side by side (engine/gpu/join/index_record.h); where they are too wide,
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

// Of fields alone: the upper half of a number of 128 bits; of strings where they are, how long, and both as offset and
// length of 4 bytes each; whether the value is there.
#define DK_INDEX_UPPER 7
#define DK_INDEX_ADDRESS 8
#define DK_INDEX_LENGTH 9
#define DK_INDEX_OFFSET 10
#define DK_INDEX_IS_THERE 11
// Floats as they are compared.
#define DK_INDEX_KEY_F32 12
#define DK_INDEX_KEY_F64 13

#define DK_INDEX_NO_SLOT 0xFFFFFFFFU

// control, besides DK_INDEX_IS_REPEATED: a key was outside of a dense index. Behind it dk_group_starts has left how
// many rows the key has that has most.
#define DK_INDEX_IS_OUTSIDE 1

// Words of the parameters, the same for all of these kernels; what is not there is 0.
#define DK_INDEX_ROWS 0         // the first one of this launch | the one behind its last << 32
#define DK_INDEX_BITS 1         // of places: of a dense index that has them
#define DK_INDEX_SLOTS 2        // of a table; rows by place of a dense index
#define DK_INDEX_SPAN 3         // places of a dense index; bits of the number of slots of a table
#define DK_INDEX_LOW 4          // the first key of a dense index
#define DK_INDEX_ROW_BITS 5     // of a slot
#define DK_INDEX_KEYS 6         // of a table: of row 0
#define DK_INDEX_KEY_BYTES 7    // from one row's to the next one's
#define DK_INDEX_FILTER 8       // of a table
#define DK_INDEX_FILTER_BITS 9  // of the number of its words
#define DK_INDEX_SLOTS_OF_ROWS 10
#define DK_INDEX_CONTROL 11
#define DK_INDEX_COUNTS 12  // by slot, where several rows may share a key; then starts
#define DK_INDEX_RANKS 13   // of rows
#define DK_INDEX_BY_KEY 14  // numbers of rows, key by key
#define DK_INDEX_RECORDS 15
#define DK_INDEX_RECORD_BYTES 16  // from one to the next
#define DK_INDEX_KEY_FIELDS 17    // how many fields a key has; where keys are unique its record's follow them
#define DK_INDEX_FIELDS 18        // how many a record has
#define DK_INDEX_COLUMNS 19       // of the keys, their number
// Then of each column of the keys, strings last: values, validity, form; of a string: its bytes.
#define DK_INDEX_FIRST_COLUMN 20
#define DK_INDEX_COLUMN_WORDS 4
// Then of each field, in their order: values, of strings their bytes as well; what is subtracted; and
// form | bytes << 8 | its bits' place in the word << 16 | the word << 24.
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
    case DK_INDEX_OFFSET:
      return DK_AT(const dk_u32, values)[row] |
             (dk_u64)(DK_AT(const dk_u32, values)[row + 1] - DK_AT(const dk_u32, values)[row]) << 32;
    case DK_INDEX_KEY_F32: return dk_key_word_f64((dk_f64)DK_AT(const dk_f32, values)[row]);
    case DK_INDEX_KEY_F64: return dk_key_word_f64(DK_AT(const dk_f64, values)[row]);
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

// Writes `count` fields of a row from the field `before` on. A macro, since a pointer to parameters would have
// compilers copy all of them.
#define DK_INDEX_WRITE(parameters, row, before, count, to, bytes_of_all)                                             \
  {                                                                                                                  \
    const dk_i32 first = DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * (dk_i32)parameters.word[DK_INDEX_COLUMNS] + \
                         DK_INDEX_FIELD_WORDS * (dk_i32)(before);                                                    \
    const dk_i32 fields = (dk_i32)(count);                                                                           \
    DK_GLOBAL dk_u8* const record = (to);                                                                            \
    dk_u64 word = 0;                                                                                                 \
    dk_i32 number = 0;                                                                                               \
    for (dk_i32 i = 0; i < fields; i++) {                                                                            \
      const dk_i32 at = first + DK_INDEX_FIELD_WORDS * i;                                                            \
      const dk_u64 about = parameters.word[at + 3];                                                                  \
      const dk_i32 bytes = (dk_i32)(about >> 8 & 255), place = (dk_i32)(about >> 16 & 255);                          \
      if ((dk_i32)(about >> 24) != number) {                                                                         \
        dk_index_put(record, bytes_of_all, number, word);                                                            \
        number = (dk_i32)(about >> 24);                                                                              \
        word = 0;                                                                                                    \
      }                                                                                                              \
      const dk_u64 bits =                                                                                            \
          dk_index_field(DK_SPACES_ARG, parameters.word[at], parameters.word[at + 1], (dk_i32)(about & 255), row) -  \
          parameters.word[at + 2];                                                                                   \
      word |= (bytes == 8 ? bits : bits & ((DK_U64(1) << (8 * bytes)) - 1)) << place;                                \
    }                                                                                                                \
    if (fields > 0) dk_index_put(record, bytes_of_all, number, word);                                                \
  }

// Whether no key of the row is NULL. A macro, as above.
#define DK_INDEX_HAS_KEYS(parameters, row, has)                                                     \
  for (dk_i32 i = 0; i < (dk_i32)parameters.word[DK_INDEX_COLUMNS]; i++) {                          \
    const dk_u64 validity = parameters.word[DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * i + 1]; \
    if (validity != 0 && (DK_AT(const dk_u8, validity)[(row) >> 3] >> ((row)&7) & 1) == 0) has = 0; \
  }

DK_FN dk_text dk_index_text(DK_SPACES_PARAM, dk_u64 offsets, dk_u64 bytes, dk_i64 row) {
  DK_GLOBAL const dk_u32* at = DK_AT(const dk_u32, offsets) + row;
  dk_text text;
  text.data = DK_AT(const char, bytes) + at[0];
  text.length = (dk_i32)(at[1] - at[0]);
  return text;
}

// Of a key of the row: the word that is compared, of 128 bits the lower one.
DK_FN dk_u64 dk_index_key_word(DK_SPACES_PARAM, dk_u64 values, dk_u64 bytes, dk_i32 form, dk_i64 row) {
  switch (form) {
    case DK_INDEX_TEXT: return dk_text_key(dk_index_text(DK_SPACES_ARG, values, bytes, row));
    case DK_INDEX_F32: return dk_key_word_f64((dk_f64)DK_AT(const dk_f32, values)[row]);
    case DK_INDEX_F64: return dk_key_word_f64(DK_AT(const dk_f64, values)[row]);
    case DK_INDEX_BOOL: return DK_AT(const dk_u8, values)[row] != 0;
    default: return dk_index_field(DK_SPACES_ARG, values, bytes, form, row);
  }
}

// The hash of the row's keys. A macro, as above.
#define DK_INDEX_HASH(parameters, row, hash)                                                                       \
  for (dk_i32 i = 0; i < (dk_i32)parameters.word[DK_INDEX_COLUMNS]; i++) {                                         \
    const dk_i32 at = DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * i;                                           \
    const dk_i32 form = (dk_i32)parameters.word[at + 2];                                                           \
    const dk_u64 word = dk_index_key_word(DK_SPACES_ARG, parameters.word[at], parameters.word[at + 3], form, row); \
    hash = i == 0 ? dk_hash_i64((dk_i64)word) : dk_hash_combine(hash, word);                                       \
    if (form == DK_INDEX_I128)                                                                                     \
      hash = dk_hash_combine(hash, dk_index_field(DK_SPACES_ARG, parameters.word[at], 0, DK_INDEX_UPPER, row));    \
  }

// Whether two rows have the same keys. A macro, as above.
#define DK_INDEX_COMPARE(parameters, row, other, same)                                    \
  for (dk_i32 i = 0; i < (dk_i32)parameters.word[DK_INDEX_COLUMNS] && same; i++) {        \
    const dk_i32 at = DK_INDEX_FIRST_COLUMN + DK_INDEX_COLUMN_WORDS * i;                  \
    same = dk_index_same_key(DK_SPACES_ARG, parameters.word[at], parameters.word[at + 3], \
                             (dk_i32)parameters.word[at + 2], row, other);                \
  }

DK_FN dk_bool dk_index_same_key(DK_SPACES_PARAM, dk_u64 values, dk_u64 bytes, dk_i32 form, dk_i64 row, dk_i64 other) {
  if (form == DK_INDEX_TEXT) {
    const dk_text a = dk_index_text(DK_SPACES_ARG, values, bytes, row);
    const dk_text b = dk_index_text(DK_SPACES_ARG, values, bytes, other);
    return a.length == b.length &&
           dk_same_bytes(DK_SPACES_ARG, dk_text_address(DK_SPACES_ARG, a), dk_text_address(DK_SPACES_ARG, b), a.length);
  }
  if (form == DK_INDEX_I128 && dk_index_field(DK_SPACES_ARG, values, 0, DK_INDEX_UPPER, row) !=
                                   dk_index_field(DK_SPACES_ARG, values, 0, DK_INDEX_UPPER, other))
    return 0;
  return dk_index_key_word(DK_SPACES_ARG, values, bytes, form, row) ==
         dk_index_key_word(DK_SPACES_ARG, values, bytes, form, other);
}

// Counts the row for its slot; has_slot: it has one.
DK_FN void dk_index_count(DK_GLOBAL dk_u32* counts, DK_GLOBAL dk_u32* ranks, DK_GLOBAL dk_u32* slots_of_rows,
                          dk_i64 row, dk_bool has_slot, dk_u32 slot) {
  ranks[row] = has_slot ? dk_count_up_global_u32(counts + slot) : 0;
  slots_of_rows[row] = has_slot ? slot : DK_INDEX_NO_SLOT;
}

// Row after row of the launch, of which each work-item takes one in so many.
#define DK_INDEX_EACH_ROW(parameters, row)                                                                             \
  for (dk_i64 row =                                                                                                    \
           (dk_i64)(parameters.word[DK_INDEX_ROWS] & 0xFFFFFFFFU) + (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; \
       row < (dk_i64)(parameters.word[DK_INDEX_ROWS] >> 32); row += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE)

DK_KERNEL void dk_index_insert_places(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped,
                                      const dk_parameters parameters) {
  const dk_u64 places = parameters.word[DK_INDEX_SPAN], record_bytes = parameters.word[DK_INDEX_RECORD_BYTES];
  DK_GLOBAL dk_u32* bits = DK_AT(dk_u32, parameters.word[DK_INDEX_BITS]);
  DK_GLOBAL dk_u32* control = DK_AT(dk_u32, parameters.word[DK_INDEX_CONTROL]);
  const dk_bool has_bits = parameters.word[DK_INDEX_BITS] != 0, has_rows = parameters.word[DK_INDEX_SLOTS] != 0;
  DK_INDEX_EACH_ROW(parameters, row) {
    dk_bool has_keys = 1;
    DK_INDEX_HAS_KEYS(parameters, row, has_keys)
    const dk_u64 key = dk_index_field(DK_SPACES_ARG, parameters.word[DK_INDEX_FIRST_COLUMN], 0,
                                      (dk_i32)parameters.word[DK_INDEX_FIRST_COLUMN + 2], row);
    const dk_u64 place = key - parameters.word[DK_INDEX_LOW];
    if (has_keys && place >= places) {
      has_keys = 0;
      dk_atomic_store_global_u32(control + DK_INDEX_IS_OUTSIDE, 1);
    }
    if (parameters.word[DK_INDEX_COUNTS] != 0) {
      dk_index_count(DK_AT(dk_u32, parameters.word[DK_INDEX_COUNTS]), DK_AT(dk_u32, parameters.word[DK_INDEX_RANKS]),
                     DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS_OF_ROWS]), row, has_keys, (dk_u32)place);
    } else if (has_keys) {
      if (parameters.word[DK_INDEX_RECORDS] != 0) {
        DK_GLOBAL dk_u8* records = DK_AT(dk_u8, parameters.word[DK_INDEX_RECORDS]);
        DK_INDEX_WRITE(parameters, row, 0, parameters.word[DK_INDEX_FIELDS],
                       records + (has_rows ? (dk_u64)row : place) * record_bytes, record_bytes)
      }
      if (has_rows) DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS])[place] = (dk_u32)row;
      const dk_u32 bit = 1U << (dk_u32)(place & 31);
      if (has_bits && (dk_atomic_or_global_u32(bits + (place >> 5), bit) & bit) != 0)
        dk_atomic_store_global_u32(control + DK_INDEX_IS_REPEATED, 1);
    }
  }
}

DK_KERNEL void dk_index_insert_slots(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL dk_u32* slots = DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS]);
  DK_GLOBAL dk_u8* keys = DK_AT(dk_u8, parameters.word[DK_INDEX_KEYS]);
  DK_GLOBAL dk_u32* filter = DK_AT(dk_u32, parameters.word[DK_INDEX_FILTER]);
  DK_GLOBAL dk_u32* control = DK_AT(dk_u32, parameters.word[DK_INDEX_CONTROL]);
  const dk_u64 key_bytes = parameters.word[DK_INDEX_KEY_BYTES];
  const dk_i32 bits = (dk_i32)parameters.word[DK_INDEX_SPAN], row_bits = (dk_i32)parameters.word[DK_INDEX_ROW_BITS];
  const dk_bool may_repeat = parameters.word[DK_INDEX_COUNTS] != 0;
  DK_INDEX_EACH_ROW(parameters, row) {
    dk_bool has_keys = 1, is_new = 1;
    DK_INDEX_HAS_KEYS(parameters, row, has_keys)
    dk_u64 slot = 0;
    if (has_keys) {
      dk_u64 hash = 0;
      DK_INDEX_HASH(parameters, row, hash)
      const dk_u32 entry = dk_index_entry(hash, (dk_u32)row, row_bits);
      slot = hash >> (64 - bits);
      dk_bool found = 0;
      while (!found) {
        const dk_u32 other = dk_atomic_cas_global_u32(slots + slot, 0, entry);
        is_new = other == 0;
        found = is_new;
        if (!found && dk_index_may_be(other, entry, row_bits)) {
          dk_bool same = 1;
          DK_INDEX_COMPARE(parameters, row, (dk_i64)dk_index_row(other, row_bits), same)
          found = same;
        }
        if (!found) slot = (slot + 1) & ((DK_U64(1) << bits) - 1);
      }
      if (is_new && parameters.word[DK_INDEX_FILTER] != 0)
        dk_atomic_or_global_u32(filter + (hash >> (64 - parameters.word[DK_INDEX_FILTER_BITS])),
                                dk_index_filter_bits(hash));
      const dk_u64 written =
          parameters.word[DK_INDEX_KEY_FIELDS] + (may_repeat ? DK_U64(0) : parameters.word[DK_INDEX_FIELDS]);
      DK_INDEX_WRITE(parameters, row, 0, written, keys + row * key_bytes, key_bytes)
    }
    if (may_repeat)
      dk_index_count(DK_AT(dk_u32, parameters.word[DK_INDEX_COUNTS]), DK_AT(dk_u32, parameters.word[DK_INDEX_RANKS]),
                     DK_AT(dk_u32, parameters.word[DK_INDEX_SLOTS_OF_ROWS]), row, has_keys, (dk_u32)slot);
    else if (!is_new)
      dk_atomic_store_global_u32(control + DK_INDEX_IS_REPEATED, 1);
  }
}

DK_KERNEL void dk_index_place(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL const dk_u32* slots_of_rows = DK_AT(const dk_u32, parameters.word[DK_INDEX_SLOTS_OF_ROWS]);
  DK_GLOBAL const dk_u32* ranks = DK_AT(const dk_u32, parameters.word[DK_INDEX_RANKS]);
  DK_GLOBAL const dk_u32* starts = DK_AT(const dk_u32, parameters.word[DK_INDEX_COUNTS]);
  const dk_u64 record_bytes = parameters.word[DK_INDEX_RECORD_BYTES];
  DK_INDEX_EACH_ROW(parameters, row) {
    const dk_u32 slot = slots_of_rows[row];
    if (slot == DK_INDEX_NO_SLOT) continue;
    const dk_u64 place = starts[slot] + ranks[row];
    if (parameters.word[DK_INDEX_RECORDS] != 0) {
      DK_INDEX_WRITE(parameters, row, parameters.word[DK_INDEX_KEY_FIELDS], parameters.word[DK_INDEX_FIELDS],
                     DK_AT(dk_u8, parameters.word[DK_INDEX_RECORDS]) + place * record_bytes, record_bytes)
    } else {
      DK_AT(dk_u32, parameters.word[DK_INDEX_BY_KEY])[place] = (dk_u32)row;
    }
  }
}
