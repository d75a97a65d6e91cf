// The catalog in the file: blobs that refer to blobs.
//
//   header --> root --> table "a" --> directory chunk --> tablets
//                  |            |---> directory chunk ...
//                  |            '---> dictionary segments
//                  |--> table "b" ...
//                  '    views, in the root itself
//
// A commit writes the blobs on the way from what changed up to the root, and refers to the others where they are. The
// first commit to a file of an older version writes all tables and directories anew.
// docs/format.md has the fields.
#pragma once

#include <memory>

#include "storage/table_view.h"
#include "storage/tablet_ids.h"

namespace diptych {

class TabletBuffer;
struct TabletStorage;

// Writes what of the tables is not in the file yet, in the form that is written today. Errors: 53100, 58030, XX001.
void write_tables(const TabletStorage& storage, TableMap& tables);
std::shared_ptr<const StoredBlob> write_root(DatabaseFile& file, const TableMap& tables, const ViewMap& views,
                                             uint64_t next_id);

// Reads the catalog that the file's header refers to, taking all pages that it uses, and sets ids to go on behind those
// that were given. Errors: XX001 with the place, 58030.
std::shared_ptr<const CatalogView> read_catalog(DatabaseFile& file, const std::shared_ptr<TabletBuffer>& buffer,
                                                TabletIds& ids);
// Reads all blobs of a catalog again and checks them. Errors: as above.
void verify_catalog(const DatabaseFile& file, const CatalogView& catalog);

}  // namespace diptych
