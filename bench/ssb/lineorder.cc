#include "lineorder.h"

#include <array>
#include <span>
#include <string_view>

#include "calendar.h"
#include "random_stream.h"
#include "row_text.h"
#include "words.h"

namespace ssb {
namespace {

constexpr uint32_t kMostLines = 7;

constexpr Sequence kOrderDate = {1066728069, 1};
constexpr Sequence kCustomer = {851767375, 1};
constexpr Sequence kPriority = {591449447, 1};
constexpr Sequence kLineCount = {1434868289, 1};
constexpr Sequence kQuantity = {209208115, kMostLines};
constexpr Sequence kDiscount = {554590007, kMostLines};
constexpr Sequence kTax = {721958466, kMostLines};
constexpr Sequence kShipMode = {675466456, kMostLines};
constexpr Sequence kPart = {1808217256, kMostLines};
constexpr Sequence kSupplier = {2095021727, kMostLines};
constexpr Sequence kCommitDays = {904914315, kMostLines};

// The reference generator takes the date table's rows for orders, so the sequences of orders begin behind them.
constexpr int64_t kOrdersBefore = kDays;

// The last day that is ordered on leaves 151 days for shipping and receipt, which this benchmark left out.
constexpr int64_t kLastOrderDay = kDays - 151 - 1;

// Eight orders have keys in a row, the next 24 keys are free.
int64_t order_key(int64_t number) { return number / 8 * 32 + number % 8; }

// In cents.
int64_t part_price(int64_t part) { return 90'000 + part / 10 % 20'001 + part % 1'000 * 100; }

struct Line {
  int64_t part, supplier, quantity, discount, tax, commit_date;
  std::string_view ship_mode;
  int64_t price() const { return part_price(part) * quantity; }
  int64_t revenue() const { return price() * (100 - discount) / 100; }
  int64_t supply_cost() const { return 6 * part_price(part) / 10; }
  int64_t with_tax() const { return revenue() * (100 + tax) / 100; }
};

struct Order {
  int64_t customer, day;
  std::string_view priority;
  std::array<Line, kMostLines> line;
  size_t count;
  std::span<const Line> lines() const { return {line.data(), count}; }
};

// The sequences of all columns, at one order.
class Orders {
 public:
  Orders(const Scale& scale, int64_t order)
      : scale_(scale),
        date_(kOrderDate, kOrdersBefore + order),
        customer_(kCustomer, kOrdersBefore + order),
        priority_(kPriority, kOrdersBefore + order),
        line_count_(kLineCount, kOrdersBefore + order),
        quantity_(kQuantity, order),
        discount_(kDiscount, order),
        tax_(kTax, order),
        ship_mode_(kShipMode, order),
        part_(kPart, order),
        supplier_(kSupplier, order),
        commit_days_(kCommitDays, order) {}

  Order next() {
    Order order;
    order.day = date_.between(0, kLastOrderDay);
    order.customer = customer_who_orders(customer_.between(1, scale_.customers));
    order.priority = kOrderPriorities[static_cast<size_t>(priority_.between(1, 5)) - 1];
    order.count = static_cast<size_t>(line_count_.between(1, kMostLines));
    for (size_t i = 0; i < order.count; ++i) order.line[i] = next_line(order.day);
    end_order();
    return order;
  }

 private:
  // Every third customer orders nothing; the neighbour does instead.
  int64_t customer_who_orders(int64_t customer) const {
    if (customer % 3 != 0) return customer;
    return customer < scale_.customers ? customer + 1 : customer - 1;
  }

  Line next_line(int64_t order_day) {
    Line line;
    line.part = part_.between(1, scale_.ordered_parts);
    line.supplier = supplier_.between(1, scale_.suppliers);
    line.quantity = quantity_.between(1, 50);
    line.discount = discount_.between(0, 10);
    line.tax = tax_.between(0, 8);
    line.commit_date = date_key(order_day + commit_days_.between(30, 90));
    line.ship_mode = kShipModes[static_cast<size_t>(ship_mode_.between(1, 7)) - 1];
    return line;
  }

  void end_order() {
    for (RandomStream* stream : {&date_, &customer_, &priority_, &line_count_, &quantity_, &discount_, &tax_,
                                 &ship_mode_, &part_, &supplier_, &commit_days_})
      stream->end_row();
  }

  const Scale& scale_;
  RandomStream date_, customer_, priority_, line_count_;
  RandomStream quantity_, discount_, tax_, ship_mode_, part_, supplier_, commit_days_;
};

void append_order(int64_t key, const Order& order, RowText& row) {
  int64_t total = 0;
  for (const Line& line : order.lines()) total += line.with_tax();
  int number = 0;
  for (const Line& line : order.lines()) {
    row.field(key).field(++number).field(order.customer).field(line.part).field(line.supplier);
    row.field(date_key(order.day)).field(order.priority).field(0).field(line.quantity).field(line.price()).field(total);
    row.field(line.discount).field(line.revenue()).field(line.supply_cost()).field(line.tax).field(line.commit_date);
    row.field(line.ship_mode).end_row();
  }
}

}  // namespace

void append_orders(const Scale& scale, int64_t first_order, int64_t orders, std::string& text) {
  Orders source(scale, first_order);
  RowText row(text);
  for (int64_t number = first_order + 1; number <= first_order + orders; ++number)
    append_order(order_key(number), source.next(), row);
}

}  // namespace ssb
