// Rows in an order in which neighbours may still be equal, and what sorts those again by more of their keys: the rows
// of such ties are put together, sorted by the number of their tie and by words, and put back where ties of theirs
// were.
//
//   order    7 2 5 0 3 6      row numbers
//   starts   1 1 0 0 1 1      whether a row differs from the one before; 0: they are tied
//   at         1 2 3          places of tied rows
//   rows       2 5 0          and their numbers
//   ties       1 1 1          of each, how many ties start up to it
//
//   dk_tie_mark    starts, from a word of the rows
//   dk_tie_tally   how many tied rows and ties each group has; dk_run_scan makes prefix sums of them
//   dk_tie_rows    at, rows, ties
//   dk_text_words  words of the strings of rows
//   dk_tie_place   puts rows back
//
// Of a limit, `end` says how many places matter: up to the end of the tie that the last of them is in. All are u32 but
// starts (u8), ties and words (u64).
#pragma once

#define DK_TIE_STEP ((dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE)
#define DK_TIE_ITEM ((dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID)

// rows, row numbers in order, words, at or 0, starts, limit, end: sets starts[at[i]], without at starts[i], where the
// word of row i differs from that of the row before, and lowers *end to the first such place from `limit` on.
DK_KERNEL void dk_tie_mark(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u32* numbers = DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL const dk_u64* words = DK_AT(const dk_u64, parameters.word[2]);
  DK_GLOBAL const dk_u32* at = DK_AT(const dk_u32, parameters.word[3]);
  DK_GLOBAL dk_u8* starts = DK_AT(dk_u8, parameters.word[4]);
  dk_i64 limit = (dk_i64)parameters.word[5];
  DK_GLOBAL dk_u32* end = DK_AT(dk_u32, parameters.word[6]);
  for (dk_i64 i = DK_TIE_ITEM; i < rows; i += DK_TIE_STEP) {
    if (i == 0 || words[numbers[i]] != words[numbers[i - 1]]) {
      dk_u32 place = parameters.word[3] != 0 ? at[i] : (dk_u32)i;
      starts[place] = 1;
      if ((dk_i64)place >= limit && place < *end) dk_atomic_min_global_u32(end, place);
    }
  }
}

// Whether the row at a place is tied with a neighbour, and, with strings given, its string has more than so many bytes.
DK_FN dk_bool dk_is_tied(DK_GLOBAL const dk_u8* starts, DK_GLOBAL const dk_u32* order, DK_GLOBAL const dk_i128* texts,
                         dk_bool has_texts, dk_i64 bytes, dk_i64 place, dk_i64 places) {
  if (starts[place] != 0 && (place + 1 == places || starts[place + 1] != 0)) return 0;
  return !has_texts || (dk_i64)texts[order[place]].hi > bytes;
}

// places, end, order, starts, strings (text_row.h) or 0, bytes, counts: of each group of the launch, its tied rows; of
// all groups behind these, the ties that start in it.
DK_KERNEL void dk_tie_tally(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i64 places = (dk_i64)parameters.word[0];
  dk_i64 wanted = (dk_i64)*DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL const dk_u32* order = DK_AT(const dk_u32, parameters.word[2]);
  DK_GLOBAL const dk_u8* starts = DK_AT(const dk_u8, parameters.word[3]);
  DK_GLOBAL const dk_i128* texts = DK_AT(const dk_i128, parameters.word[4]);
  dk_bool has_texts = parameters.word[4] != 0;
  dk_i64 bytes = (dk_i64)parameters.word[5];
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[6]);
  if (wanted < places) places = wanted;
  dk_i64 last = dk_run_start(places, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  dk_u32 tied = 0;
  dk_u32 ties = 0;
  for (dk_i64 i = dk_run_start(places, DK_GROUP_ID, DK_GROUP_COUNT) + DK_LOCAL_ID; i < last; i += DK_GROUP_SIZE) {
    dk_bool is_tied = dk_is_tied(starts, order, texts, has_texts, bytes, i, places);
    tied += is_tied;
    ties += is_tied && starts[i] != 0;
  }
  tied = dk_block_sum_u32(tied, scratch);
  ties = dk_block_sum_u32(ties, scratch);
  if (DK_LOCAL_ID == 0) {
    counts[DK_GROUP_ID] = tied;
    counts[DK_GROUP_COUNT + DK_GROUP_ID] = ties;
  }
}

// The same, with the prefix sums of the counts; and at, rows, ties to write
DK_KERNEL void dk_tie_rows(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i64 places = (dk_i64)parameters.word[0];
  dk_i64 wanted = (dk_i64)*DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL const dk_u32* order = DK_AT(const dk_u32, parameters.word[2]);
  DK_GLOBAL const dk_u8* starts = DK_AT(const dk_u8, parameters.word[3]);
  DK_GLOBAL const dk_i128* texts = DK_AT(const dk_i128, parameters.word[4]);
  dk_bool has_texts = parameters.word[4] != 0;
  dk_i64 bytes = (dk_i64)parameters.word[5];
  DK_GLOBAL const dk_u32* counts = DK_AT(const dk_u32, parameters.word[6]);
  DK_GLOBAL dk_u32* at = DK_AT(dk_u32, parameters.word[7]);
  DK_GLOBAL dk_u32* rows = DK_AT(dk_u32, parameters.word[8]);
  DK_GLOBAL dk_u64* ties = DK_AT(dk_u64, parameters.word[9]);
  if (wanted < places) places = wanted;
  dk_i64 last = dk_run_start(places, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  dk_u32 next = counts[DK_GROUP_ID];
  dk_u32 next_tie = counts[DK_GROUP_COUNT + DK_GROUP_ID];
  for (dk_i64 first = dk_run_start(places, DK_GROUP_ID, DK_GROUP_COUNT); first < last; first += DK_RUN_TILE) {
    dk_i64 mine = first + DK_LOCAL_ID * DK_RUN_ROWS;
    dk_u32 tied = 0;
    dk_u32 started = 0;
    for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
      if (mine + i < last && dk_is_tied(starts, order, texts, has_texts, bytes, mine + i, places)) {
        tied |= 1U << i;
        if (starts[mine + i] != 0) started |= 1U << i;
      }
    }
    // Of a tile both sums have 16 bits.
    dk_u32 total = 0;
    dk_u32 before = dk_block_scan_u32(DK_POPCOUNT_U32(tied) | DK_POPCOUNT_U32(started) << 16, scratch, &total);
    dk_u32 place = next + (before & 0xFFFFU);
    dk_u32 tie = next_tie + (before >> 16);
    for (; tied != 0; tied &= tied - 1) {
      dk_i32 i = DK_CTZ_U32(tied);
      tie += started >> i & 1U;
      at[place] = (dk_u32)(mine + i);
      rows[place] = order[mine + i];
      ties[place] = tie;
      place++;
    }
    next += total & 0xFFFFU;
    next_tie += total >> 16;
  }
}

// rows, row numbers, strings (text_row.h), first byte, count, descending, words: of each row `count` words of its
// string, all rows' first word first, then a word of how many bytes it has, up to one more than those words have.
DK_KERNEL void dk_text_words(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u32* numbers = DK_AT(const dk_u32, parameters.word[1]);
  DK_GLOBAL const dk_i128* texts = DK_AT(const dk_i128, parameters.word[2]);
  dk_i64 from = (dk_i64)parameters.word[3];
  dk_i64 count = (dk_i64)parameters.word[4];
  dk_u64 flip = parameters.word[5] != 0 ? ~DK_U64(0) : 0;
  DK_GLOBAL dk_u64* words = DK_AT(dk_u64, parameters.word[6]);
  dk_u64 most = (dk_u64)(from + 8 * count + 1);
  for (dk_i64 i = DK_TIE_ITEM; i < rows; i += DK_TIE_STEP) {
    dk_i128 row = texts[numbers[i]];
    dk_text text = dk_make_text(DK_AT(const char, row.lo), (dk_i32)row.hi);
    for (dk_i64 word = 0; word < count; word++) words[word * rows + i] = dk_text_word(text, from + 8 * word) ^ flip;
    dk_u64 length = (dk_u64)row.hi;
    words[count * rows + i] = (length < most ? length : most) ^ flip;
  }
}

// tied rows, sorted ones, their order, rows, at, order to write, end: as many as are sorted go to their places; those
// behind them, if any, don't matter.
DK_KERNEL void dk_tie_place(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  dk_i64 tied = (dk_i64)parameters.word[0];
  dk_i64 sorted = (dk_i64)parameters.word[1];
  DK_GLOBAL const dk_u32* numbers = DK_AT(const dk_u32, parameters.word[2]);
  DK_GLOBAL const dk_u32* rows = DK_AT(const dk_u32, parameters.word[3]);
  DK_GLOBAL const dk_u32* at = DK_AT(const dk_u32, parameters.word[4]);
  DK_GLOBAL dk_u32* order = DK_AT(dk_u32, parameters.word[5]);
  DK_GLOBAL dk_u32* end = DK_AT(dk_u32, parameters.word[6]);
  for (dk_i64 i = DK_TIE_ITEM; i < sorted; i += DK_TIE_STEP) order[at[i]] = rows[numbers[i]];
  if (sorted < tied && DK_TIE_ITEM == 0) dk_atomic_min_global_u32(end, at[sorted]);
}
