// The words of a statement, from PostgreSQL's own scanner: to find out what must be known before the grammar runs.
//
//   SELECT a+1   ->   [SELECT 0..6] [IDENT 7..8] [+ 8..9] [ICONST 9..10]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include "base/error.h"

namespace diptych {

struct Token {
  int begin = 0;  // bytes
  int end = 0;
  PgQuery__Token kind = PG_QUERY__TOKEN__NUL;
  bool is_keyword = false;
};

// Without comments. The text has no NUL byte and is valid UTF-8. Errors: 42601 (an unterminated string or comment).
std::vector<Token> scan(const std::string& text);

// A bound of the depth of the tree that the grammar would make of these tokens; both libpg_query and this system walk
// trees recursively, so that it must be known before there is a tree. Errors: 54001 at the token that is deeper than
// `limit`.
//
//   tokens    a + b * ( c - ( d ) ) , e      operators add up until a comma, AND, OR or a closing bracket;
//   depth     1 2     3   4 5 6       1      a bracket is a level on top of what surrounds it
int depth_of(const std::vector<Token>& tokens, int limit);

// An error of libpg_query over this text as one of ours.
Error parser_error(std::string_view text, const PgQueryError& error);

// 22021 when the text is not UTF-8 or holds a NUL byte.
void check_utf8(std::string_view text);

}  // namespace diptych
