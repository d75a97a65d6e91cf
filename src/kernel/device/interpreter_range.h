// Conditions that compare a column with a constant, which most filters are: a range of the column's codes, found once
// for each tablet, so that rows are compared as they are stored.
//
//   a > 60         values 61 .. greatest        tablet: codes of 1 byte, base -100        codes 161 .. 255
//   section      | column, kind | 61 | greatest |
//   range        | address of the codes | 161 | 255 - 161 | width, kind |
//
// A code c is in the range when c - 161 is at most 94, modulo 2 to the code's width. Floats of 4 bytes are compared as
// such.
#pragma once

#define DK_PASTE_LOAD(rows, suffix) dk_load##rows##_##suffix
#define DK_LOAD_NAME(rows, suffix) DK_PASTE_LOAD(rows, suffix)
#define DK_RANGE_WORDS 4
#define DK_RANGE_NEGATED 0x100U
#define DK_RANGE_KIND(how) ((how) >> 16)

// What a range of the section, three words, is in a tablet.
DK_NEAR void dk_place_range(DK_LOCAL const dk_u64* range, DK_LOCAL const dk_u64* tablet, DK_LOCAL dk_u64* placed) {
  const dk_u32 operand = DK_LOW_HALF(range[0]);
  DK_LOCAL const dk_u64* column = tablet + DK_OPERAND_PLACE(operand);
  const dk_u32 form = DK_OPERAND_COLUMN_FORM(operand);
  const dk_u32 kind = DK_HIGH_HALF(range[0]) & 0xFFU;
  dk_u32 negated = DK_HIGH_HALF(range[0]) >> 8;
  const dk_u32 width = (dk_u32)column[4];
  dk_i64 least = (dk_i64)range[1];
  dk_i64 greatest = (dk_i64)range[2];
  dk_u64 low = (dk_u64)least;
  dk_u64 high = (dk_u64)greatest;
  dk_bool is_empty = least > greatest;
  if (kind != DK_RANGE_WHOLE) {
    is_empty = 0;
    high = low;
  } else if (form == DK_COLUMN_CODES || form == DK_COLUMN_COUNTED) {
    const dk_i64 base = (dk_i64)column[2];
    const dk_u64 factor = form == DK_COLUMN_COUNTED ? 1 : column[3];
    const dk_u64 most = width == 8 ? ~(dk_u64)0 : ((dk_u64)1 << 8 * width) - 1;
    const dk_u64 above = (dk_u64)least - (dk_u64)base;
    is_empty = is_empty || greatest < base;
    low = least <= base ? 0 : above / factor + (above % factor != 0);
    high = ((dk_u64)greatest - (dk_u64)base) / factor;
    if (high > most) high = most;
    is_empty = is_empty || low > high;
  } else if (form == DK_COLUMN_SIGNED) {
    const dk_i64 bound = (dk_i64)1 << 31;
    if (least < -bound) least = -bound;
    if (greatest > bound - 1) greatest = bound - 1;
    low = (dk_u64)least;
    high = (dk_u64)greatest;
    is_empty = least > greatest;
  }
  if (is_empty) {
    // All that are not in the range of all.
    low = 0;
    high = ~(dk_u64)0;
    negated ^= 1U;
  }
  placed[0] = column[0];
  placed[1] = low;
  placed[2] = high - low;
  placed[3] = width | (negated != 0 ? DK_RANGE_NEGATED : 0U) | kind << 16;
}

DK_NEAR dk_u32 dk_floats_in_range(DK_GLOBAL const dk_u8* column, dk_u32 kind, dk_i64 first, dk_f32 bound) {
  dk_f32 values[DK_ROWS];
  DK_LOAD_NAME(DK_ROWS, f32)(column, first, values);
  dk_u32 holds = 0;
  if (kind == DK_RANGE_BELOW) {
    DK_FOR_ROWS(k) { holds |= (dk_u32)(values[k] < bound) << k; }
  } else if (kind == DK_RANGE_UP_TO) {
    DK_FOR_ROWS(k) { holds |= (dk_u32)(values[k] <= bound) << k; }
  } else {
    DK_FOR_ROWS(k) { holds |= (dk_u32)(values[k] == bound) << k; }
  }
  return holds;
}

// The rows from `first` on that are in the range. active: those that there are, one or more.
DK_NEAR dk_u32 dk_rows_in_range(DK_SPACES_PARAM, DK_LOCAL const dk_u64* range, dk_i64 first, dk_u32 active) {
  const dk_u32 how = (dk_u32)range[3];
  const dk_u32 kind = DK_RANGE_KIND(how);
  const dk_u32 width = how & 0xFFU;
  DK_GLOBAL const dk_u8* column = DK_AT(const dk_u8, range[0]);
  dk_u32 holds = 0;
  if (kind != DK_RANGE_WHOLE) {
    holds = dk_floats_in_range(column, kind, first, DK_F32_OF_BITS((dk_u32)range[1]));
  } else if (width == 8) {
    const dk_u64 low = range[1];
    const dk_u64 span = range[2];
    for (dk_i32 at = 0; at < DK_ROWS && active >> at != 0; at += DK_QUAD_ROWS) {
      dk_u64 codes[DK_QUAD_ROWS];
      dk_load4_u64(column, first + at, codes);
      DK_FOR_QUAD(k) { holds |= (dk_u32)(codes[k] - low <= span) << (at + k); }
    }
  } else {
    const dk_u32 low = (dk_u32)range[1];
    const dk_u32 span = (dk_u32)range[2];
    dk_u32 codes[DK_ROWS];
    if (width == 1) {
      DK_LOAD_NAME(DK_ROWS, u8)(column, first, codes);
    } else if (width == 2) {
      DK_LOAD_NAME(DK_ROWS, u16)(column, first, codes);
    } else if (width == 4) {
      DK_LOAD_NAME(DK_ROWS, u32)(column, first, codes);
    } else {
      DK_FOR_ROWS(k) { codes[k] = 0; }
    }
    DK_FOR_ROWS(k) { holds |= (dk_u32)(codes[k] - low <= span) << k; }
  }
  return (how & DK_RANGE_NEGATED) != 0 ? ~holds & DK_ALL_ROWS : holds;
}
