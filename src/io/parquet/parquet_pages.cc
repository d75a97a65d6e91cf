#include "io/parquet/parquet_pages.h"

#include <parquet/column_reader.h>
#include <parquet/metadata.h>

#include <utility>

namespace diptych {

bool KeptPages::takes(int64_t page_rows) {
  const int64_t first = std::exchange(rows_, rows_ + page_rows);
  const size_t known = kept_rows_.size();
  for (; next_ < wanted_.size() && wanted_[next_] < rows_; ++next_)
    kept_rows_.push_back(rows_kept_ + wanted_[next_] - first);
  if (kept_rows_.size() == known) return false;
  rows_kept_ += page_rows;
  return true;
}

namespace {

class KeptPageReader : public parquet::PageReader {
 public:
  KeptPageReader(std::unique_ptr<parquet::PageReader> all, KeptPages& pages) : all_(std::move(all)), pages_(pages) {
    all_->set_data_page_filter([this](const parquet::DataPageStats& page) { return !pages_.takes(page.num_values); });
  }
  std::shared_ptr<parquet::Page> NextPage() override { return pages_.has_all() ? nullptr : all_->NextPage(); }
  void set_max_page_header_size(uint32_t bytes) override { all_->set_max_page_header_size(bytes); }

 private:
  std::unique_ptr<parquet::PageReader> all_;
  KeptPages& pages_;
};

class KeptRowGroup : public parquet::RowGroupReader::Contents {
 public:
  KeptRowGroup(std::shared_ptr<parquet::RowGroupReader> whole, const parquet::ReaderProperties& properties,
               KeptPages& pages)
      : whole_(std::move(whole)), properties_(properties), pages_(pages) {}
  std::unique_ptr<parquet::PageReader> GetColumnPageReader(int column) override {
    return std::make_unique<KeptPageReader>(whole_->GetColumnPageReader(column), pages_);
  }
  const parquet::RowGroupMetaData* metadata() const override { return whole_->metadata(); }
  const parquet::ReaderProperties* properties() const override { return &properties_; }

 private:
  std::shared_ptr<parquet::RowGroupReader> whole_;
  parquet::ReaderProperties properties_;
  KeptPages& pages_;
};

class KeptFile : public parquet::ParquetFileReader::Contents {
 public:
  KeptFile(std::unique_ptr<parquet::ParquetFileReader> whole, const parquet::ReaderProperties& properties,
           KeptPages& pages)
      : whole_(std::move(whole)), properties_(properties), pages_(pages) {}
  void Close() override { whole_->Close(); }
  std::shared_ptr<parquet::RowGroupReader> GetRowGroup(int number) override {
    return std::make_shared<parquet::RowGroupReader>(
        std::make_unique<KeptRowGroup>(whole_->RowGroup(number), properties_, pages_));
  }
  std::shared_ptr<parquet::FileMetaData> metadata() const override { return whole_->metadata(); }
  std::shared_ptr<parquet::PageIndexReader> GetPageIndexReader() override { return whole_->GetPageIndexReader(); }
  parquet::BloomFilterReader& GetBloomFilterReader() override { return whole_->GetBloomFilterReader(); }

 private:
  std::unique_ptr<parquet::ParquetFileReader> whole_;
  parquet::ReaderProperties properties_;
  KeptPages& pages_;
};

}  // namespace

std::unique_ptr<parquet::ParquetFileReader> open_kept_pages(std::unique_ptr<parquet::ParquetFileReader> whole,
                                                            const parquet::ReaderProperties& properties,
                                                            KeptPages& pages) {
  auto kept = std::make_unique<parquet::ParquetFileReader>();
  kept->Open(std::make_unique<KeptFile>(std::move(whole), properties, pages));
  return kept;
}

}  // namespace diptych
