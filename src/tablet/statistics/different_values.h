// How many different values a column has, from a sample whose rows are of a few places of it.
//
//   column   a a b b b c | d a d d e e | f f g h h h        rows with one value are often near each other
//   places         **          * *            * *           drawn at random of the rows of a place: b c, a d, f h
//
// Of a place the estimator Duj1 tells how many values all its rows have (Haas, Naughton, Seshadri, Stokes:
// Sampling-based estimation of the number of distinct values of an attribute, VLDB 1995). In how many of the places
// each value was found tells how many there are altogether, by the same estimator: its population is every pair of a
// value and a place that has it. So rows with one value that are neighbours count once. Values that are frequent are
// left out and counted as they are (Haas and Stokes, Estimating the number of classes in a finite population, JASA
// 1998): the estimator takes all values to be as frequent as each other.
#pragma once

#include <span>
#include <vector>

#include "tablet/statistics/row_sample.h"

namespace diptych {

// At least as many as were sampled, at most `rows`. places: of each sampled row the place that it is of, from 0.
// rows_of_places: the rows that those of each place were drawn from. rows: of the column, those of NULLs included.
double different_values(const SampledColumn& column, std::span<const uint8_t> places,
                        std::span<const double> rows_of_places, double rows);

}  // namespace diptych
