"""How to make a failing query smaller."""

import copy
from dataclasses import replace

from literals import Expr

MOST_ROWS_OF_A_PRODUCT = 20_000


def _smaller_expressions(expr):
    """The expression with one part replaced by a part of that part of the same kind."""
    for inner in _descendants(expr):
        if inner.kind == expr.kind:
            yield inner
    for i, part in enumerate(expr.parts):
        if part == ", " and expr.parts[:1] and len(expr.parts) > 5:
            yield replace(expr, parts=expr.parts[:i] + expr.parts[i + 2:])
        if isinstance(part, Expr):
            for smaller in _smaller_expressions(part):
                yield replace(expr, parts=expr.parts[:i] + (smaller,) + expr.parts[i + 1:])


def _descendants(expr):
    for part in expr.parts:
        if isinstance(part, Expr):
            yield part
            yield from _descendants(part)


def smaller(query):
    """Queries with something left out, the largest cuts first."""
    def changed(**fields):
        result = copy.copy(query)
        for name, value in fields.items():
            setattr(result, name, value)
        return result

    if query.text:
        return
    if query.join:
        for join in query.join.smaller():
            if join.product() <= MOST_ROWS_OF_A_PRODUCT:
                yield changed(join=join)
    elif query.inner:
        pass
    elif query.values:
        rows = query.values.rows
        if len(rows) > 3:
            yield changed(values=replace(query.values, rows=rows[:len(rows) // 2]))
            yield changed(values=replace(query.values, rows=rows[len(rows) // 2:]))
        for i in range(len(rows) if len(rows) > 1 else 0):
            yield changed(values=replace(query.values, rows=rows[:i] + rows[i + 1:]))
    else:
        if query.table != "t_one":
            yield changed(table="t_one")
        if query.table in ("t_block", "t_tablets"):
            yield changed(table="t_small")
    if query.where is not None:
        yield changed(where=None)
    if query.having is not None:
        yield changed(having=None)
    if query.limit:
        yield changed(limit="")
    if query.order and not query.limit:
        yield changed(order=[], ordered=False)
    if query.distinct:
        yield changed(distinct=False, order=[], ordered=False, limit="")
    if query.aliases:
        yield changed(aliases=False)
    if len(query.select) > 1 and not query.distinct:
        for i in range(len(query.select)):
            yield changed(select=query.select[:i] + query.select[i + 1:])
    for i in range(len(query.order) - 1):
        yield changed(order=query.order[:i] + query.order[i + 1:])
    if query.where is not None:
        for e in _smaller_expressions(query.where):
            yield changed(where=e)
    if query.having is not None:
        for e in _smaller_expressions(query.having):
            yield changed(having=e)
    for i, item in enumerate(query.select):
        if not query.group:
            for e in _smaller_expressions(item):
                yield changed(select=query.select[:i] + [e] + query.select[i + 1:])
