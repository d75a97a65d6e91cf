// How the interpreter writes the rows that passed. A pass writes one column of the result, or its NULL bytes.
//
//   of columns and constants   rows are numbered close together (pick.h), and each item fetches four of them
//   of computed values         they come together in the stage, a window of them at a time, and leave it in order
#pragma once

// Rows that an item fetches at once.
#define DK_GATHER_ROWS 4
#define DK_FOR_GATHERED(j) DK_UNROLL for (dk_i32 j = 0; j < DK_GATHER_ROWS; j++)
// Values of a team's stage.
#define DK_STAGE_VALUES (4 * DK_TEAM_SIZE)

DK_FN void dk_write_element(DK_GLOBAL dk_u8* out, dk_u32 bytes, dk_u32 stride, dk_u64 at, dk_u64 value) {
  if (bytes == 4) {
    ((DK_GLOBAL dk_u32*)out)[at] = (dk_u32)value;
  } else if (bytes == 8) {
    ((DK_GLOBAL dk_u64*)out)[at * stride] = value;
  } else {
    out[at] = (dk_u8)value;
  }
}

// Codes of at most 4 bytes.
DK_NEAR void dk_gather_narrow(DK_GLOBAL const dk_u8* codes, dk_i32 width, DK_PRIVATE const dk_i64* rows,
                              DK_PRIVATE dk_u32* out) {
  if (width == 1) {
    DK_FOR_GATHERED(j) { out[j] = codes[rows[j]]; }
  } else if (width == 2) {
    DK_FOR_GATHERED(j) { out[j] = ((DK_GLOBAL const dk_u16*)codes)[rows[j]]; }
  } else if (width == 4) {
    DK_FOR_GATHERED(j) { out[j] = ((DK_GLOBAL const dk_u32*)codes)[rows[j]]; }
  } else {
    DK_FOR_GATHERED(j) { out[j] = 0; }
  }
}

// What a pass writes of one row of a column.
DK_NEAR dk_u64 dk_gathered_value(DK_SPACES_PARAM, dk_u32 what, dk_u32 operand, DK_LOCAL const dk_u64* tablet,
                                 dk_i64 row) {
  if (what == DK_PASS_KNOWN) {
    const dk_u64 validity = tablet[DK_OPERAND_PLACE(operand) + 1];
    return validity == 0 ? 1U : dk_row_is_known(DK_AT(const dk_u8, validity), row);
  }
  const dk_i128 read =
      dk_read_row(DK_SPACES_ARG, tablet + DK_OPERAND_PLACE(operand), DK_OPERAND_COLUMN_FORM(operand), row);
  return what == DK_PASS_HIGH ? (dk_u64)read.hi : read.lo;
}

// One pass over the first `written` of the rows picked from those that begin at `batch`, to the places from `place` on.
DK_NEAR void dk_gather_pass(DK_SPACES_PARAM, DK_LOCAL const dk_u64* pass, DK_LOCAL const dk_u64* table,
                            DK_LOCAL const dk_u64* tablet, dk_i64 batch, DK_LOCAL const dk_u16* picked, dk_u32 written,
                            dk_u64 place) {
  const dk_u32 operand = DK_LOW_HALF(pass[0]);
  const dk_u32 how = DK_HIGH_HALF(pass[0]);
  const dk_u32 what = how & 255U;
  const dk_u32 bytes = how >> 8 & 255U;
  DK_GLOBAL dk_u8* out = DK_AT(dk_u8, pass[1]);
  DK_LOCAL const dk_u64* column = tablet + DK_OPERAND_PLACE(operand);
  const dk_u32 form = DK_OPERAND_COLUMN_FORM(operand);
  const dk_bool is_column = DK_OPERAND_FORM(operand) == DK_AT_COLUMN;
  if (is_column && bytes == 4 && form != DK_COLUMN_WIDE && column[4] <= 4) {
    // Modulo 2 to the 32: base and factor of what is no code are 0 and 1.
    const dk_i32 width = (dk_i32)column[4];
    const dk_bool is_code = form == DK_COLUMN_CODES || form == DK_COLUMN_COUNTED || width == 0;
    const dk_u32 base = is_code ? (dk_u32)column[2] : 0U;
    const dk_u32 factor = form == DK_COLUMN_CODES ? (dk_u32)column[3] : 1U;
    DK_GLOBAL const dk_u8* codes = DK_AT(const dk_u8, column[0]);
    DK_GLOBAL dk_u32* to = (DK_GLOBAL dk_u32*)out + place;
    for (dk_u32 i = (dk_u32)DK_LANE; i < written; i += DK_GATHER_ROWS * DK_TEAM_SIZE) {
      dk_i64 rows[DK_GATHER_ROWS];
      dk_u32 values[DK_GATHER_ROWS];
      DK_FOR_GATHERED(j) { rows[j] = batch + dk_picked_row(picked, i + (dk_u32)j * DK_TEAM_SIZE, written); }
      dk_gather_narrow(codes, width, rows, values);
      DK_FOR_GATHERED(j) {
        const dk_u32 number = i + (dk_u32)j * DK_TEAM_SIZE;
        if (number < written) to[number] = base + factor * values[j];
      }
    }
    return;
  }
  for (dk_u32 i = (dk_u32)DK_LANE; i < written; i += DK_TEAM_SIZE) {
    dk_u64 value = 1;
    if (is_column) {
      value = dk_gathered_value(DK_SPACES_ARG, what, operand, tablet, batch + picked[i]);
    } else if (what == DK_PASS_KNOWN) {
      value = DK_OPERAND_KNOWN(operand) == DK_MASK_ALL;
    } else {
      value = table[DK_OPERAND_PLACE(operand) + (what == DK_PASS_HIGH ? 1 : 0)];
    }
    dk_write_element(out, bytes, how >> 16, place + i, value);
  }
}

// One pass over the rows of a step, whose values are still in registers, or in columns; `written` of `total` of them.
// position: of the item's first.
DK_NEAR void dk_stage_pass(DK_SPACES_PARAM, DK_LOCAL const dk_u64* pass, DK_LOCAL const dk_u64* table,
                           DK_LOCAL const dk_u64* tablet, dk_i64 first, dk_u32 rows, dk_u32 position, dk_u32 written,
                           dk_u64 place, DK_PRIVATE const dk_u64* registers, DK_PRIVATE const dk_u32* masks,
                           DK_LOCAL dk_u64* stage) {
  const dk_u32 operand = DK_LOW_HALF(pass[0]);
  const dk_u32 how = DK_HIGH_HALF(pass[0]);
  const dk_u32 what = how & 255U;
  const dk_bool is_column = DK_OPERAND_FORM(operand) == DK_AT_COLUMN;
  DK_GLOBAL dk_u8* out = DK_AT(dk_u8, pass[1]);
  for (dk_u32 window = 0; window < written; window += DK_STAGE_VALUES) {
    dk_u32 next = position;
    for (dk_i32 k = 0; k < DK_ROWS; k++) {
      if ((rows >> k & 1U) == 0) continue;
      const dk_u32 at = next++ - window;
      if (at >= DK_STAGE_VALUES) continue;
      if (is_column) {
        stage[at] = dk_gathered_value(DK_SPACES_ARG, what, operand, tablet, first + k);
      } else if (what == DK_PASS_KNOWN) {
        stage[at] = masks[DK_OPERAND_KNOWN(operand)] >> k & 1U;
      } else {
        const dk_i128 value = dk_fetch_row(DK_SPACES_ARG, operand, table, tablet, first, registers, masks, k);
        stage[at] = what == DK_PASS_HIGH ? (dk_u64)value.hi : value.lo;
      }
    }
    DK_TEAM_BARRIER();
    for (dk_u32 j = (dk_u32)DK_LANE; j < DK_STAGE_VALUES && window + j < written; j += DK_TEAM_SIZE) {
      dk_write_element(out, how >> 8 & 255U, how >> 16, place + window + j, stage[j]);
    }
    DK_TEAM_BARRIER();
  }
}
