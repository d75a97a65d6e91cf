// How many different values a column has, from a sample whose rows are of a few clusters: stretches of it.
//
//   column   a a b b b c | d a d d e e | f f g h h h        rows with one value are often near each other
//   clusters       **          * *            * *           drawn at random of the rows of a cluster: b c, a d, f h
//
// Of a cluster the estimator Duj1 tells how many values all its rows have (Haas, Naughton, Seshadri, Stokes:
// Sampling-based estimation of the number of distinct values of an attribute, VLDB 1995). In how many of the clusters
// each value was found tells how many there are altogether, by the same estimator: its population is every pair of a
// value and a cluster that has it. So rows with one value that are neighbours count once. Values that are frequent are
// left out and counted as they are (Haas and Stokes, Estimating the number of classes in a finite population, JASA
// 1998): the estimator takes all values to be as frequent as each other.
#pragma once

#include <span>
#include <vector>

#include "tablet/statistics/row_sample.h"

namespace diptych {

// At least as many as were sampled, at most `rows`. clusters: of each sampled row the cluster that it is of, from 0.
// rows_of_clusters: the rows that those of each cluster were drawn from. rows: of the column, those of NULLs included.
double different_values(const SampledColumn& column, std::span<const uint8_t> clusters,
                        std::span<const double> rows_of_clusters, double rows);

}  // namespace diptych
