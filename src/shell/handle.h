// Owners of the C API's handles: what the shell opens, it closes.
#pragma once

#include <diptych/diptych.h>

#include <memory>

namespace diptych::shell {

struct HandleCloser {
  void operator()(diptych_database* database) const { diptych_close(database); }
  void operator()(diptych_connection* connection) const { diptych_disconnect(connection); }
  void operator()(diptych_statement* statement) const { diptych_finalize(statement); }
};

using DatabaseHandle = std::unique_ptr<diptych_database, HandleCloser>;
using ConnectionHandle = std::unique_ptr<diptych_connection, HandleCloser>;
using StatementHandle = std::unique_ptr<diptych_statement, HandleCloser>;

}  // namespace diptych::shell
