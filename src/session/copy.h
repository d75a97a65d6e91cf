// COPY between tables and files.
#pragma once

#include "bind/bound_statement.h"
#include "session/connection.h"
#include "storage/store.h"

namespace diptych {

// Appends the file's rows to the table and says how many. Errors: of the reader, of WriteTransaction::append, 57014.
int64_t copy_from_file(Connection& connection, WriteTransaction& transaction, const BoundCopyFrom& command);

// Writes the rows to the file and says how many. On an error there is no new file.
int64_t copy_to_file(Connection& connection, const BoundCopyTo& command, const TabletSource& rows);

}  // namespace diptych
