#include "sql/scanner.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <pg_query.h>

namespace diptych {

namespace {

// The depth of the tree of what stands between two brackets (or CASE and END), while its tokens are read.
struct BracketLevel {
  int operators = 0;     // in the list item read now
  int deepest_item = 0;  // bracket inside it
  int deepest = 0;       // of the items before
  int chained = 0;       // set operations and joins: a level each, whatever lists stand between them

  int depth() const { return chained + std::max(deepest, operators + deepest_item); }
  void end_item() {
    deepest = std::max(deepest, operators + deepest_item);
    operators = 0;
    deepest_item = 0;
  }
};

bool opens(PgQuery__Token kind) {
  return kind == PG_QUERY__TOKEN__ASCII_40 || kind == PG_QUERY__TOKEN__ASCII_91 || kind == PG_QUERY__TOKEN__CASE;
}

bool closes(PgQuery__Token kind) {
  return kind == PG_QUERY__TOKEN__ASCII_41 || kind == PG_QUERY__TOKEN__ASCII_93 || kind == PG_QUERY__TOKEN__END_P;
}

// Ends an operand of a list, which the grammar keeps flat, or a clause.
bool separates(PgQuery__Token kind) {
  switch (kind) {
    case PG_QUERY__TOKEN__ASCII_44:  // comma
    case PG_QUERY__TOKEN__AND:
    case PG_QUERY__TOKEN__OR:
    case PG_QUERY__TOKEN__WHEN:
    case PG_QUERY__TOKEN__THEN:
    case PG_QUERY__TOKEN__ELSE:
    case PG_QUERY__TOKEN__WHERE:
    case PG_QUERY__TOKEN__GROUP_P:
    case PG_QUERY__TOKEN__HAVING:
    case PG_QUERY__TOKEN__ORDER:
    case PG_QUERY__TOKEN__LIMIT: return true;
    default: return false;
  }
}

bool chains_queries(PgQuery__Token kind) {
  return kind == PG_QUERY__TOKEN__UNION || kind == PG_QUERY__TOKEN__INTERSECT || kind == PG_QUERY__TOKEN__EXCEPT ||
         kind == PG_QUERY__TOKEN__JOIN;
}

bool is_operand(const Token& token) {
  switch (token.kind) {
    case PG_QUERY__TOKEN__IDENT:
    case PG_QUERY__TOKEN__UIDENT:
    case PG_QUERY__TOKEN__FCONST:
    case PG_QUERY__TOKEN__SCONST:
    case PG_QUERY__TOKEN__USCONST:
    case PG_QUERY__TOKEN__BCONST:
    case PG_QUERY__TOKEN__XCONST:
    case PG_QUERY__TOKEN__ICONST:
    case PG_QUERY__TOKEN__PARAM:
    case PG_QUERY__TOKEN__ASCII_46:  // the point in t.a
      return true;
    default: return false;
  }
}

struct ScanResultDeleter {
  void operator()(PgQuery__ScanResult* result) const { pg_query__scan_result__free_unpacked(result, nullptr); }
};

int byte_of_character(std::string_view text, int character) {
  size_t byte = 0;
  for (int seen = 1; seen < character && byte < text.size(); ++seen) {
    do ++byte;
    while (byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80);
  }
  return static_cast<int>(byte);
}

// Bytes of the UTF-8 sequence at the start of `text`, 0 when it is none (Unicode 15, table 3-7).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first >= 0x01 && first <= 0x7F) return 1;
  size_t length = 0;
  unsigned low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF)
    length = 2;
  else if (first >= 0xE0 && first <= 0xEF)
    length = 3;
  else if (first >= 0xF0 && first <= 0xF4)
    length = 4;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  if (length == 0 || byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

// libpg_query tells no SQLSTATE. The scanner and the grammar raise syntax errors but for these.
SqlState state_of(const PgQueryError& error) {
  const std::string_view words = error.message;
  const auto says = [&](std::string_view part) { return words.find(part) != words.npos; };
  // Bison's stack and PostgreSQL's guard of the machine's stack, both met before max_expression_depth only by odd
  // grammar.
  if (says("memory exhausted") || says("stack depth")) return SqlState::statement_too_complex;
  if (says("encoding")) return SqlState::character_not_in_repertoire;
  // E'\u12' is this, U&'\12' a syntax error.
  const std::string_view function = error.funcname ? error.funcname : "";
  if (words == "invalid Unicode escape" && function != "str_udeescape") return SqlState::invalid_escape_sequence;
  if (says("precision for type float")) return SqlState::invalid_parameter_value;
  return SqlState::syntax_error;
}

}  // namespace

void check_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    // Eight bytes of 0x01 to 0x7F at a time: long texts are values, of appenders and parameters.
    uint64_t bytes = 0;
    if (text.size() - at >= sizeof bytes) {
      std::memcpy(&bytes, text.data() + at, sizeof bytes);
      if (((bytes | (bytes - 0x0101010101010101)) & 0x8080808080808080) == 0) {
        at += sizeof bytes;
        continue;
      }
    }
    const size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      throw Error(SqlState::character_not_in_repertoire, "invalid byte sequence for encoding UTF-8",
                  static_cast<int>(at));
    }
    at += length;
  }
}

Error parser_error(std::string_view text, const PgQueryError& error) {
  // Characters are counted from 1; 0 means unknown.
  return Error(state_of(error), error.message, error.cursorpos > 0 ? byte_of_character(text, error.cursorpos) : -1);
}

std::vector<Token> scan(const std::string& text) {
  PgQueryScanResult raw = pg_query_scan(text.c_str());
  const auto release = [](PgQueryScanResult* result) { pg_query_free_scan_result(*result); };
  const std::unique_ptr<PgQueryScanResult, decltype(release)> owner(&raw, release);
  if (raw.error) throw parser_error(text, *raw.error);
  const std::unique_ptr<PgQuery__ScanResult, ScanResultDeleter> result(
      pg_query__scan_result__unpack(nullptr, raw.pbuf.len, reinterpret_cast<const uint8_t*>(raw.pbuf.data)));
  check_invariant(result != nullptr, "the scanner's result can be unpacked");
  std::vector<Token> tokens;
  tokens.reserve(result->n_tokens);
  for (size_t i = 0; i < result->n_tokens; ++i) {
    const PgQuery__ScanToken& token = *result->tokens[i];
    if (token.token == PG_QUERY__TOKEN__SQL_COMMENT || token.token == PG_QUERY__TOKEN__C_COMMENT) continue;
    tokens.push_back({token.start, token.end, token.token, token.keyword_kind != PG_QUERY__KEYWORD_KIND__NO_KEYWORD});
  }
  return tokens;
}

int depth_of(const std::vector<Token>& tokens, int limit) {
  std::vector<BracketLevel> levels(1);
  int deepest = 0;
  for (const Token& token : tokens) {
    if (opens(token.kind)) {
      levels.emplace_back();
    } else if (closes(token.kind) && levels.size() > 1) {
      const int depth = levels.back().depth() + 1;
      levels.pop_back();
      levels.back().deepest_item = std::max(levels.back().deepest_item, depth);
    } else if (separates(token.kind)) {
      levels.back().end_item();
    } else if (chains_queries(token.kind)) {
      ++levels.back().chained;
    } else if (!is_operand(token)) {
      ++levels.back().operators;
    }
    deepest = std::max({deepest, levels.back().depth(), static_cast<int>(levels.size())});
    if (deepest > limit) {
      throw Error(SqlState::statement_too_complex, "the statement is nested too deeply", token.begin,
                  "At most " + std::to_string(limit) + " levels are allowed; a chain of operators is a level each.");
    }
  }
  return deepest;
}

}  // namespace diptych
