#include "sql/rewriter.h"

#include <strings.h>

namespace diptych {

namespace {

// The text between the quotes of '...', with '' as '. Other kinds of string constants can't name a file.
bool read_plain_string(std::string_view token, std::string& out) {
  if (token.size() < 3 || token.front() != '\'' || token.back() != '\'') return false;
  out.clear();
  for (size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] == '\'' && token[++i] != '\'') return false;  // two pieces on two lines
    out.push_back(token[i]);
  }
  return true;
}

// What part of a statement stands between two brackets, up to a word in it.
enum class Part : uint8_t { Other, Select, Delete, From };

// The part that this word begins, or the one before it.
Part part_from(PgQuery__Token kind, Part before) {
  switch (kind) {
    case PG_QUERY__TOKEN__SELECT:
    case PG_QUERY__TOKEN__UPDATE: return Part::Select;
    case PG_QUERY__TOKEN__DELETE_P: return Part::Delete;
    case PG_QUERY__TOKEN__USING: return before == Part::Delete ? Part::From : before;
    case PG_QUERY__TOKEN__VALUES:
    case PG_QUERY__TOKEN__WHERE:
    case PG_QUERY__TOKEN__GROUP_P:
    case PG_QUERY__TOKEN__HAVING:
    case PG_QUERY__TOKEN__WINDOW:
    case PG_QUERY__TOKEN__ORDER:
    case PG_QUERY__TOKEN__LIMIT:
    case PG_QUERY__TOKEN__OFFSET:
    case PG_QUERY__TOKEN__FETCH:
    case PG_QUERY__TOKEN__RETURNING:
    case PG_QUERY__TOKEN__FOR: return Part::Other;
    default: return before;
  }
}

// Whether a table, or a bracket around some, may come next in FROM.
bool comes_before_table(PgQuery__Token kind) {
  return kind == PG_QUERY__TOKEN__FROM || kind == PG_QUERY__TOKEN__USING || kind == PG_QUERY__TOKEN__JOIN ||
         kind == PG_QUERY__TOKEN__ASCII_44 || kind == PG_QUERY__TOKEN__ASCII_40;
}

class Rewriter {
 public:
  Rewriter(std::string text, const std::vector<Token>& tokens) : tokens_(tokens) { result_.text = std::move(text); }

  RewrittenStatement run() {
    rewrite_describe();
    rewrite_explain_kernel();
    rewrite_replacing();
    rewrite_files();
    return std::move(result_);
  }

 private:
  std::string_view text_of(const Token& token) const {
    return std::string_view(result_.text)
        .substr(static_cast<size_t>(token.begin), static_cast<size_t>(token.end - token.begin));
  }

  void rewrite_describe() {
    if (tokens_.size() < 2 || tokens_[0].kind != PG_QUERY__TOKEN__IDENT) return;
    const std::string_view word = text_of(tokens_[0]);
    if (word.size() != 8 || strncasecmp(word.data(), "describe", 8) != 0) return;
    const PgQuery__Token next = tokens_[1].kind;
    const bool is_query = next == PG_QUERY__TOKEN__SELECT || next == PG_QUERY__TOKEN__VALUES ||
                          next == PG_QUERY__TOKEN__TABLE || next == PG_QUERY__TOKEN__WITH ||
                          next == PG_QUERY__TOKEN__ASCII_40;
    if (next == PG_QUERY__TOKEN__SCONST) replace_file(tokens_[1]);
    result_.text.replace(static_cast<size_t>(tokens_[0].begin), 8, is_query ? "        " : "TABLE   ");
    result_.describes = true;
  }

  void rewrite_explain_kernel() {
    if (tokens_.size() < 3 || tokens_[0].kind != PG_QUERY__TOKEN__EXPLAIN) return;
    const std::string_view word = text_of(tokens_[1]);
    if (word.size() != 6 || strncasecmp(word.data(), "kernel", 6) != 0) return;
    result_.text.replace(static_cast<size_t>(tokens_[1].begin), 6, "      ");
    result_.explains_kernel = true;
  }

  void rewrite_replacing() {
    const auto is_word = [&](size_t i, PgQuery__Token kind) { return i < tokens_.size() && tokens_[i].kind == kind; };
    const bool is_temporary = is_word(3, PG_QUERY__TOKEN__TEMP) || is_word(3, PG_QUERY__TOKEN__TEMPORARY);
    if (!is_word(0, PG_QUERY__TOKEN__CREATE) || !is_word(1, PG_QUERY__TOKEN__OR) ||
        !is_word(2, PG_QUERY__TOKEN__REPLACE) || !is_word(is_temporary ? 4 : 3, PG_QUERY__TOKEN__TABLE))
      return;
    const int begin = tokens_[1].begin, end = tokens_[2].end;
    result_.text.replace(static_cast<size_t>(begin), static_cast<size_t>(end - begin), static_cast<size_t>(end - begin),
                         ' ');
    result_.replaces_table = true;
  }

  // FROM 'x', JOIN 'x' and FROM t, 'x' where FROM is a clause of SELECT or UPDATE, and USING 'x' of DELETE; not in COPY
  // t FROM 'x', trim(BOTH FROM 'x'), a IS DISTINCT FROM 'x'.
  void rewrite_files() {
    std::vector<Part> parts(1, Part::Other);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const PgQuery__Token before = i == 0 ? PG_QUERY__TOKEN__NUL : tokens_[i - 1].kind;
      const bool is_table = parts.back() == Part::From && comes_before_table(before);
      switch (tokens_[i].kind) {
        case PG_QUERY__TOKEN__ASCII_40: parts.push_back(is_table ? Part::From : Part::Other); break;
        case PG_QUERY__TOKEN__ASCII_41:
          if (parts.size() > 1) parts.pop_back();
          break;
        case PG_QUERY__TOKEN__SCONST:
          if (is_table) replace_file(tokens_[i]);
          break;
        case PG_QUERY__TOKEN__FROM:
          if (parts.back() == Part::Select && before != PG_QUERY__TOKEN__DISTINCT) parts.back() = Part::From;
          break;
        default: parts.back() = part_from(tokens_[i].kind, parts.back());
      }
    }
  }

  void replace_file(const Token& token) {
    std::string path;
    if (!read_plain_string(text_of(token), path)) return;
    const size_t length = static_cast<size_t>(token.end - token.begin);
    result_.text.replace(static_cast<size_t>(token.begin), length, '"' + std::string(length - 2, 'f') + '"');
    result_.files[token.begin] = std::move(path);
  }

  const std::vector<Token>& tokens_;
  RewrittenStatement result_;
};

}  // namespace

RewrittenStatement rewrite(std::string text, const std::vector<Token>& tokens) {
  return Rewriter(std::move(text), tokens).run();
}

}  // namespace diptych
