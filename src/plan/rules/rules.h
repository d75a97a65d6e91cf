// The makers of all optimiser rules, one file each.
#pragma once

#include <memory>
#include <vector>

#include "plan/optimizer.h"

namespace diptych {

std::unique_ptr<Rule> make_push_filters();
std::unique_ptr<Rule> make_push_not_down();
std::unique_ptr<Rule> make_factor_or();
std::unique_ptr<Rule> make_fold_constants();
std::unique_ptr<Rule> make_narrow_comparisons();
std::unique_ptr<Rule> make_order_joins();
std::unique_ptr<Rule> make_raise_limit();
std::unique_ptr<Rule> make_read_first_rows();
std::unique_ptr<Rule> make_prune_columns();
std::unique_ptr<Rule> make_semi_joins();
std::unique_ptr<Rule> make_top_n();

// The first five: what conditions go through before rows are estimated by them.
std::vector<std::unique_ptr<Rule>> make_rules_of_conditions();

}  // namespace diptych
