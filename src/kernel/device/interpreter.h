// What the interpreter of sections is made of: operands from wherever they are, the file of registers, masks of a
// work-item's rows, states of aggregates.
//
//   operand   table | register of one or two words a row | mask | column of the tablet     -> values[4] of a quad
//
// Values are 64 bits a row: whole numbers with their sign, bits of floats. They are worked on four rows, a quad, at a
// time, so that those of two operands and a result fit into machine registers. Every work-item has registers, masks and
// states of its own. Masks have DK_ROWS bits; that of a register that is not NULL is `known`.
#pragma once

#define DK_QUAD_ROWS 4
#define DK_QUADS (DK_ROWS / DK_QUAD_ROWS)
#define DK_FOR_QUAD(k) DK_UNROLL for (dk_i32 k = 0; k < DK_QUAD_ROWS; k++)
#define DK_OPERAND_FORM(operand) ((operand)&7U)
#define DK_OPERAND_PLACE(operand) ((dk_i32)((operand) >> 3 & 0x1FFFU))
#define DK_OPERAND_KNOWN(operand) ((operand) >> 16 & 0xFFU)
#define DK_OPERAND_COLUMN_FORM(operand) ((operand) >> 24)
#define DK_LOW_HALF(word) ((dk_u32)(word))
#define DK_HIGH_HALF(word) ((dk_u32)((word) >> 32))

// ---- columns, by their descriptions: data, validity, base, factor, width

DK_NEAR dk_i64 dk_value_of_code(DK_LOCAL const dk_u64* column, dk_u32 form, dk_u64 code) {
  if (form == DK_COLUMN_CODES) return dk_decode_code_i64(code, (dk_i64)column[2], (dk_i64)column[3]);
  if (form == DK_COLUMN_COUNTED) return (dk_i64)(column[2] + code);
  return form == DK_COLUMN_SIGNED ? (dk_i64)(dk_i32)(dk_u32)code : (dk_i64)code;
}

// Of columns of 16 bytes, the lower words. Without codes all rows are the base.
DK_NEAR void dk_read_quad(DK_SPACES_PARAM, DK_LOCAL const dk_u64* column, dk_u32 form, dk_i64 first,
                          DK_PRIVATE dk_i64* values) {
  dk_i32 width = (dk_i32)column[4];
  if (form == DK_COLUMN_WIDE) {
    DK_FOR_QUAD(k) { values[k] = (dk_i64)DK_AT(const dk_i128, column[0])[first + k].lo; }
    return;
  }
  dk_u64 codes[DK_QUAD_ROWS];
  dk_load4_codes(DK_AT(const dk_u8, column[0]), width, first, codes);
  // Not codes are what they stand for: 0 and 1 times them.
  const dk_bool is_code = form == DK_COLUMN_CODES || form == DK_COLUMN_COUNTED || width == 0;
  const dk_i64 base = is_code ? (dk_i64)column[2] : 0;
  const dk_i64 factor = form == DK_COLUMN_CODES ? (dk_i64)column[3] : 1;
  if (form == DK_COLUMN_SIGNED && width != 0) {
    DK_FOR_QUAD(k) { values[k] = (dk_i64)(dk_i32)(dk_u32)codes[k]; }
  } else {
    DK_FOR_QUAD(k) { values[k] = dk_decode_code_i64(codes[k], base, factor); }
  }
}

DK_NEAR dk_i128 dk_read_row(DK_SPACES_PARAM, DK_LOCAL const dk_u64* column, dk_u32 form, dk_i64 row) {
  if (form == DK_COLUMN_WIDE) return DK_AT(const dk_i128, column[0])[row];
  dk_i32 width = (dk_i32)column[4];
  if (width == 0) return dk_widen_i64((dk_i64)column[2]);
  return dk_widen_i64(dk_value_of_code(column, form, dk_code_at(DK_AT(const dk_u8, column[0]), width, row)));
}

// ---- operands

DK_NEAR dk_u32 dk_known_operand(DK_SPACES_PARAM, dk_u32 operand, DK_LOCAL const dk_u64* tablet, dk_i64 first,
                                DK_PRIVATE const dk_u32* masks) {
  if (DK_OPERAND_FORM(operand) != DK_AT_COLUMN) {
    return DK_OPERAND_KNOWN(operand) == DK_MASK_ALL ? DK_ALL_ROWS : masks[DK_OPERAND_KNOWN(operand)];
  }
  if (DK_OPERAND_KNOWN(operand) == 0) return DK_ALL_ROWS;
  dk_u64 validity = tablet[DK_OPERAND_PLACE(operand) + 1];
  return dk_known_rows(DK_AT(const dk_u8, validity), validity, first);
}

// An operand of at most 8 bytes; of a wider one, the lower words: of the quad whose first row is `first`, the row `at`
// of the work-item. table: of a section.
DK_NEAR void dk_fetch_quad(DK_SPACES_PARAM, dk_u32 operand, DK_LOCAL const dk_u64* table, DK_LOCAL const dk_u64* tablet,
                           dk_i64 first, dk_i32 at, DK_PRIVATE const dk_u64* registers, DK_PRIVATE const dk_u32* masks,
                           DK_PRIVATE dk_i64* values) {
  dk_i32 place = DK_OPERAND_PLACE(operand);
  switch (DK_OPERAND_FORM(operand)) {
    case DK_AT_NOTHING: {
      DK_FOR_QUAD(k) { values[k] = 0; }
      break;
    }
    case DK_AT_TABLE: {
      dk_i64 value = (dk_i64)table[place];
      DK_FOR_QUAD(k) { values[k] = value; }
      break;
    }
    case DK_AT_VALUE:
    case DK_AT_WIDE: {
      DK_FOR_QUAD(k) { values[k] = (dk_i64)registers[place * DK_ROWS + at + k]; }
      break;
    }
    case DK_AT_MASK: {
      dk_u32 mask = masks[place] >> at;
      DK_FOR_QUAD(k) { values[k] = (dk_i64)(mask >> k & 1U); }
      break;
    }
    default: dk_read_quad(DK_SPACES_ARG, tablet + place, DK_OPERAND_COLUMN_FORM(operand), first, values);
  }
}

// Truth values as a mask.
DK_NEAR dk_u32 dk_truth(DK_SPACES_PARAM, dk_u32 operand, DK_LOCAL const dk_u64* table, DK_LOCAL const dk_u64* tablet,
                        dk_i64 first, DK_PRIVATE const dk_u32* masks) {
  dk_i32 place = DK_OPERAND_PLACE(operand);
  dk_u32 form = DK_OPERAND_FORM(operand);
  if (form == DK_AT_MASK) return masks[place];
  if (form == DK_AT_TABLE) return table[place] != 0 ? DK_ALL_ROWS : 0;
  dk_u32 holds = 0;
  for (dk_i32 at = 0; form == DK_AT_COLUMN && at < DK_ROWS; at += DK_QUAD_ROWS) {
    dk_i64 values[DK_QUAD_ROWS];
    dk_read_quad(DK_SPACES_ARG, tablet + place, DK_OPERAND_COLUMN_FORM(operand), first + at, values);
    DK_FOR_QUAD(k) { holds |= (dk_u32)(values[k] != 0) << (at + k); }
  }
  return holds;
}

// Any operand, of row k.
DK_NEAR dk_i128 dk_fetch_row(DK_SPACES_PARAM, dk_u32 operand, DK_LOCAL const dk_u64* table,
                             DK_LOCAL const dk_u64* tablet, dk_i64 first, DK_PRIVATE const dk_u64* registers,
                             DK_PRIVATE const dk_u32* masks, dk_i32 k) {
  dk_i32 place = DK_OPERAND_PLACE(operand);
  switch (DK_OPERAND_FORM(operand)) {
    case DK_AT_TABLE: return dk_make_i128((dk_i64)table[place + 1], table[place]);
    case DK_AT_VALUE: return dk_widen_i64((dk_i64)registers[place * DK_ROWS + k]);
    case DK_AT_WIDE: return dk_make_i128((dk_i64)registers[(place + 1) * DK_ROWS + k], registers[place * DK_ROWS + k]);
    case DK_AT_MASK: return dk_widen_i64((dk_i64)(masks[place] >> k & 1U));
    default: return dk_read_row(DK_SPACES_ARG, tablet + place, DK_OPERAND_COLUMN_FORM(operand), first + k);
  }
}

// ---- registers and masks are written in `rows` only

// rows: of the quad at row `at`.
DK_FN void dk_keep_quad(DK_PRIVATE dk_u64* registers, dk_u32 out, dk_i32 at, dk_u32 rows,
                        DK_PRIVATE const dk_i64* values) {
  dk_i32 place = DK_OPERAND_PLACE(out) * DK_ROWS + at;
  DK_FOR_QUAD(k) {
    if ((rows >> k & 1U) != 0) registers[place + k] = (dk_u64)values[k];
  }
  if (DK_OPERAND_FORM(out) != DK_AT_WIDE) return;
  DK_FOR_QUAD(k) {
    if ((rows >> k & 1U) != 0) registers[place + DK_ROWS + k] = (dk_u64)(values[k] >> 63);
  }
}

DK_FN void dk_keep_row(DK_PRIVATE dk_u64* registers, dk_u32 out, dk_i32 k, dk_i128 value) {
  dk_i32 at = DK_OPERAND_PLACE(out) * DK_ROWS + k;
  registers[at] = value.lo;
  if (DK_OPERAND_FORM(out) == DK_AT_WIDE) registers[at + DK_ROWS] = (dk_u64)value.hi;
}

DK_FN void dk_set_mask(DK_PRIVATE dk_u32* masks, dk_u32 mask, dk_u32 rows, dk_u32 bits) {
  masks[mask] = (masks[mask] & ~rows) | (bits & rows);
}

// ---- conditions of truth values; the mask of what is known goes to *known

DK_APART dk_u32 dk_logic_of(dk_u32 logic, dk_u32 a, dk_u32 known_a, dk_u32 b, dk_u32 known_b,
                            DK_PRIVATE dk_u32* known) {
  dk_u32 holds = DK_ALL_ROWS;
  *known = DK_ALL_ROWS;
  switch (logic) {
    case DK_LOGIC_TRUE: *known = known_a; return a;
    case DK_LOGIC_NOT: *known = known_a; return ~a;
    case DK_LOGIC_IS_NULL: return ~known_a;
    case DK_LOGIC_IS_NOT_NULL: return known_a;
    case DK_LOGIC_IS_TRUE: return a & known_a;
    case DK_LOGIC_IS_FALSE: return ~a & known_a;
    case DK_LOGIC_AND:
      holds = a & known_a & b & known_b;
      *known = holds | (~a & known_a) | (~b & known_b);
      return holds;
    case DK_LOGIC_OR:
      holds = (a & known_a) | (b & known_b);
      *known = holds | (~a & known_a & ~b & known_b);
      return holds;
    default: return holds;
  }
}

// ---- lookup tables and lists of values

DK_FN dk_i64 dk_lookup_entry(DK_SPACES_PARAM, dk_u64 address, dk_u32 bytes, dk_i64 number) {
  if (bytes == 1) return (dk_i64)DK_AT(const dk_u8, address)[number];
  if (bytes == 4) return (dk_i64)DK_AT(const dk_i32, address)[number];
  return DK_AT(const dk_i64, address)[number];
}

DK_APART dk_bool dk_is_listed(DK_SPACES_PARAM, dk_u32 list, dk_u64 address, dk_i32 count, dk_i64 value) {
  switch (list) {
    case DK_LIST_I32: return dk_in_i32(DK_AT(const dk_i32, address), count, (dk_i32)value);
    case DK_LIST_I64: return dk_in_i64(DK_AT(const dk_i64, address), count, value);
    case DK_LIST_F32: return dk_in_f32(DK_AT(const dk_f32, address), count, DK_F32_OF_BITS((dk_u32)(dk_u64)value));
    default: return dk_in_f64(DK_AT(const dk_f64, address), count, DK_F64_OF_BITS((dk_u64)value));
  }
}

// ---- states of aggregates, as words

DK_FN dk_sum192 dk_sum_of_words(DK_PRIVATE const dk_u64* words, dk_bool wide) {
  dk_sum192 r;
  r.lo = words[0];
  r.mid = words[1];
  r.hi = wide ? words[2] : 0;
  return r;
}
DK_FN void dk_keep_sum(DK_PRIVATE dk_u64* words, dk_bool wide, dk_sum192 sum) {
  words[0] = sum.lo;
  words[1] = sum.mid;
  if (wide) words[2] = sum.hi;
}
DK_FN void dk_keep_extreme(DK_PRIVATE dk_u64* words, dk_bool greatest, dk_i128 value) {
  dk_i128 best = dk_make_i128((dk_i64)words[1], words[0]);
  if (greatest ? dk_lt_i128(best, value) : dk_lt_i128(value, best)) {
    words[0] = value.lo;
    words[1] = (dk_u64)value.hi;
  }
}
DK_FN void dk_add_to_moments(DK_PRIVATE dk_u64* words, dk_moments more) {
  dk_moments sum;
  sum.count = DK_F64_OF_BITS(words[0]);
  sum.sum = DK_F64_OF_BITS(words[1]);
  sum.squares = DK_F64_OF_BITS(words[2]);
  sum = dk_add_moments(sum, more);
  words[0] = DK_F64_BITS(sum.count);
  words[1] = DK_F64_BITS(sum.sum);
  words[2] = DK_F64_BITS(sum.squares);
}

DK_FN dk_f64 dk_real_of(dk_i64 bits, dk_u32 flags) {
  return (flags & DK_REAL4) != 0 ? (dk_f64)DK_F32_OF_BITS((dk_u32)(dk_u64)bits) : DK_F64_OF_BITS((dk_u64)bits);
}

// Takes the arguments of at most 8 bytes of the `rows` of a quad into a state of one or two words; returns whether all
// floats among them are finite.
DK_APART dk_bool dk_update_state(DK_PRIVATE dk_u64* words, dk_u32 state, dk_u32 flags, dk_u32 rows,
                                 DK_PRIVATE const dk_i64* values) {
  dk_bool finite = 1;
  dk_bool is_real = (flags & (DK_REAL4 | DK_REAL8)) != 0;
  switch (state) {
    case DK_STATE_SUM_I64: {
      dk_u64 sum = 0;
      DK_FOR_QUAD(k) { sum += (rows >> k & 1U) != 0 ? (dk_u64)values[k] : 0; }
      words[0] += sum;
      break;
    }
    case DK_STATE_SUM_I128: {
      dk_i128 part = dk_widen_i64(0);
      DK_FOR_QUAD(k) { part = dk_add_unchecked_i128(part, dk_widen_i64((rows >> k & 1U) != 0 ? values[k] : 0)); }
      dk_keep_sum(words, 0, dk_add_sum192(dk_sum_of_words(words, 0), dk_sum192_of_i128(part)));
      break;
    }
    case DK_STATE_SUM_F64: {
      dk_f64 sum = DK_F64_OF_BITS(words[0]);
      DK_FOR_QUAD(k) {
        if ((rows >> k & 1U) != 0) {
          dk_f64 real = dk_real_of(values[k], flags);
          sum += real;
          finite &= dk_is_finite_f64(real);
        }
      }
      words[0] = DK_F64_BITS(sum);
      break;
    }
    default: {
      dk_u64 best = words[0];
      DK_FOR_QUAD(k) {
        if ((rows >> k & 1U) != 0) {
          dk_u64 key = is_real ? dk_key_f64(dk_real_of(values[k], flags)) : dk_key_i64(values[k]);
          best = state == DK_STATE_LEAST ? dk_least_key(best, key) : dk_greatest_key(best, key);
        }
      }
      words[0] = best;
    }
  }
  return finite;
}

// The same of one row, for the other states.
DK_FAR dk_bool dk_update_state_by_row(DK_PRIVATE dk_u64* words, dk_u32 state, dk_u32 flags, dk_i128 value,
                                      DK_PRIVATE dk_i32* error) {
  switch (state) {
    case DK_STATE_SUM192:
      if ((flags & DK_SQUARES) != 0) value = dk_square_i128(value, error);
      dk_keep_sum(words, 1, dk_add_sum192(dk_sum_of_words(words, 1), dk_sum192_of_i128(value)));
      return 1;
    case DK_STATE_MOMENTS: {
      dk_f64 real = dk_real_of((dk_i64)value.lo, flags);
      dk_add_to_moments(words, dk_moments_of(real));
      return dk_is_finite_f64(real);
    }
    default: dk_keep_extreme(words, state == DK_STATE_GREATEST_I128, value); return 1;
  }
}

// Adds a state of other rows.
DK_FAR void dk_combine_states(DK_PRIVATE dk_u64* words, dk_u32 state, DK_PRIVATE const dk_u64* more) {
  switch (state) {
    case DK_STATE_SUM_I128:
    case DK_STATE_SUM192: {
      dk_bool wide = state == DK_STATE_SUM192;
      dk_keep_sum(words, wide, dk_add_sum192(dk_sum_of_words(words, wide), dk_sum_of_words(more, wide)));
      break;
    }
    case DK_STATE_SUM_F64: words[0] = DK_F64_BITS(DK_F64_OF_BITS(words[0]) + DK_F64_OF_BITS(more[0])); break;
    case DK_STATE_LEAST: words[0] = dk_least_key(words[0], more[0]); break;
    case DK_STATE_GREATEST: words[0] = dk_greatest_key(words[0], more[0]); break;
    case DK_STATE_LEAST_I128:
    case DK_STATE_GREATEST_I128:
      dk_keep_extreme(words, state == DK_STATE_GREATEST_I128, dk_make_i128((dk_i64)more[1], more[0]));
      break;
    case DK_STATE_MOMENTS: {
      dk_moments other;
      other.count = DK_F64_OF_BITS(more[0]);
      other.sum = DK_F64_OF_BITS(more[1]);
      other.squares = DK_F64_OF_BITS(more[2]);
      dk_add_to_moments(words, other);
      break;
    }
    case DK_STATE_BITS: words[0] |= more[0]; break;
    default: words[0] += more[0];
  }
}
