"""What is asked of the table that g1_data.py makes. Questions with more than 10,000 groups end in ORDER BY ... LIMIT 10 with a
total order, so that all systems give the same rows and no time goes into handing over millions of them."""

from g1_data import COUNTS

# The questions for grouping of the H2O.ai db-benchmark that need neither windows nor aggregates that are not there:
# q6 (median), q8 (the largest two of each group) and q9 (correlation) are left out.
H2O = {
    "q1": "select id1, sum(v1) from g1 group by id1",
    "q2": "select id1, id2, sum(v1) from g1 group by id1, id2",
    "q3": "select id3, sum(v1), avg(v3) from g1 group by id3 order by 2 desc, 1 limit 10",
    "q4": "select id4, avg(v1), avg(v2), avg(v3) from g1 group by id4",
    "q5": "select id6, sum(v1), sum(v2), sum(v3) from g1 group by id6 order by 2 desc, 1 limit 10",
    "q7": "select id3, max(v1) - min(v2) from g1 group by id3 order by 2 desc, 1 limit 10",
    "q10": "select id1, id2, id3, id4, id5, id6, sum(v3), count(*) from g1 group by id1, id2, id3, id4, id5, id6"
           " order by 8 desc, 1, 2, 3, 4, 5, 6 limit 10",
}

TWENTY = ", ".join(["count(*)", "count(v3)"] + [f"{aggregate}({column})" for column in ("v1", "v2", "v3")
                                                for aggregate in ("sum", "min", "max", "avg")]
                   + ["stddev(v3)", "sum(v1 * v2)", "sum(v1 + id4)", "min(id5)", "max(id5)", "bool_or(v1 > v2)"])

MORE = {
    "distinct": "select count(distinct c) from g1",
    "distinct strings": "select count(distinct s) from g1",
    "distinct in groups": "select id4, count(distinct c) from g1 group by id4",
    "distinct beside others": "select id4, count(distinct c), sum(v1), max(v3) from g1 group by id4",
    "top 10": "select c, count(*), sum(v2) from g1 group by c order by 2 desc, 1 limit 10",
    "string key": "select s, count(*) from g1 group by s order by 2 desc, 1 limit 10",
    "unique key": "select u, sum(v1) from g1 group by u order by 2 desc, 1 limit 10",
    "two keys": "select id4, id6, sum(v1) from g1 group by id4, id6 order by 3 desc, 1, 2 limit 10",
    "six keys": "select id4, id5, id6, v1, v2, h, count(*) from g1 group by id4, id5, id6, v1, v2, h"
                " order by 7 desc, 1, 2, 3, 4, 5, 6 limit 10",
    "twenty aggregates": f"select id6, {TWENTY} from g1 group by id6 order by 2 desc, 1 limit 10",
    "least strings": "select id4, min(s), max(s) from g1 group by id4",
    "1 percent": "select c, count(*), sum(v2) from g1 where v3 < 1 group by c order by 2 desc, 1 limit 10",
    "having": "select c, count(*) from g1 group by c having count(*) > 20 order by 2 desc, 1 limit 10",
    "zipf": "select z, count(*), sum(v2) from g1 group by z order by 2 desc, 1 limit 10",
    "38 percent": "select h, count(*), sum(v2) from g1 group by h order by 2 desc, 1 limit 10",
}

# By the number of groups.
GROWTH = {name: f"select {name}, count(*), sum(v1) from g1 group by {name} order by 2 desc, 1 limit 10" for name in COUNTS}

# Of each kind one: few and many groups, integers and strings, a heavy key, distinct values. Each is asked in processes of its own.
FIRST = {**{name: H2O[name] for name in ("q1", "q3", "q4", "q5")}, **{name: MORE[name] for name in ("distinct", "string key", "zipf")},
         **{name: GROWTH[name] for name in ("k10", "k1m")}}

PARTS = {"h2o": H2O, "more": MORE, "growth": GROWTH, "first": FIRST}
