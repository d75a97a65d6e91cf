// Forms that users expect and PostgreSQL's grammar does not know are replaced, before it runs, by forms of the same
// length that it does know; so every position stays what it was.
//
//   SELECT * FROM 'data/x.parquet'   ->   SELECT * FROM "ffffffffffffff"   and files[14] = data/x.parquet
//   DESCRIBE t                       ->   TABLE    t                       and describes
//   DESCRIBE SELECT 1                ->            SELECT 1                and describes
//   EXPLAIN KERNEL SELECT 1          ->   EXPLAIN        SELECT 1          and explains_kernel
//   CREATE OR REPLACE TABLE t (...)  ->   CREATE            TABLE t (...)  and replaces_table
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sql/scanner.h"

namespace diptych {

struct RewrittenStatement {
  std::string text;
  std::map<int, std::string> files;  // byte offset of a table name -> the file that stands there
  bool describes = false;
  bool explains_kernel = false;
  bool replaces_table = false;
};

RewrittenStatement rewrite(std::string text, const std::vector<Token>& tokens);

}  // namespace diptych
