"""Random inner joins of two to five relations, in all the ways of writing them.

How many rows a join has is told from how often the relations' values occur; joins of more than MOST_ROWS are made anew, and most of
those that are likely to have none.
"""

import collections
from dataclasses import dataclass, replace

from conditions import COMPARISONS
from expressions import Generator
from join_tables import FAMILIES
from literals import NUMBERS, make

MOST_ROWS = 4000  # as told; that there are no more than 5,000 is for PostgreSQL to say


@dataclass(frozen=True)
class Part:
    """A relation and how it comes to those before it."""
    relation: object
    form: str  # "first of all", ",", "CROSS JOIN", "NATURAL JOIN", "ON", "USING"
    word: str = "JOIN"
    conditions: tuple = ()  # of ON, or what WHERE says of a comma or CROSS JOIN
    using: tuple = ()
    bracketed: bool = False  # all of the item up to here


@dataclass(frozen=True)
class Join:
    parts: tuple
    columns: tuple  # Columns that the query may name
    keyed: bool  # some condition compares two relations

    @property
    def relations(self):
        return [part.relation for part in self.parts]

    @property
    def expressions(self):
        return [e for part in self.parts for e in (*part.conditions, *part.relation.expressions)]

    def prefix(self):
        commons = {relation.text: relation.common for relation in self.relations if relation.common}
        return "WITH " + ", ".join(f"{name} AS ({text})" for name, text in commons.items()) + " " if commons else ""

    def source(self):
        """What stands behind FROM."""
        items = []
        for part in self.parts:
            source = part.relation.source()
            if part.form in ("first of all", ","):
                items.append(source)
                continue
            text = f"{items[-1]} {part.form if part.form in ('CROSS JOIN', 'NATURAL JOIN') else part.word} {source}"
            if part.form == "ON":
                text += " ON " + " AND ".join(e.sql() for e in part.conditions)
            if part.form == "USING":
                text += f" USING ({', '.join(part.using)})"
            items[-1] = f"({text})" if part.bracketed else text
        return ", ".join(items)

    def conditions(self):
        """What belongs into WHERE."""
        return [e for part in self.parts if part.form != "ON" for e in part.conditions]

    def identity(self):
        """Expressions that together differ in all rows."""
        return [make(c.kind, f"{relation.alias}.{name}", bound=c.bound, scale=c.scale, stable=c.stable, finite=c.finite, reads=True)
                for relation in self.relations for name in relation.identity for c in [relation.column(name)]]

    def count(self, where):
        """A query for how many rows there are, how many of them meet the condition, and how many rows of the first relation those have."""
        first = self.parts[0].relation
        row = f"ROW({', '.join(f'{first.alias}.{name}' for name in first.identity)})"
        only = f" FILTER (WHERE {where.sql()})" if where is not None else ""
        conditions = " AND ".join(e.sql() for e in self.conditions())
        return (f"{self.prefix()}SELECT count(*), count(*){only}, count(DISTINCT {row}){only} FROM {self.source()}"
                + (f" WHERE {conditions}" if conditions else ""))

    def smaller(self):
        """Joins with something left out; of products only small ones."""
        for i in range(len(self.parts) - 1, 0, -1):
            alias = self.parts[i].relation.alias + "."
            rest = [replace(part, conditions=tuple(e for e in part.conditions if alias not in e.sql()))
                    for part in self.parts[:i] + self.parts[i + 1:]]
            yield replace(self, parts=tuple(self._allowed(part) for part in rest))
        if len(self.parts) > 1 and self.parts[1].form in (",", "CROSS JOIN"):
            yield replace(self, parts=(Part(self.parts[1].relation, "first of all"), *self.parts[2:]))
        for i, part in enumerate(self.parts):
            for j in range(len(part.conditions)):
                less = replace(part, conditions=part.conditions[:j] + part.conditions[j + 1:])
                yield replace(self, parts=self.parts[:i] + (self._allowed(less),) + self.parts[i + 1:])
            if part.bracketed:
                yield replace(self, parts=self.parts[:i] + (replace(part, bracketed=False),) + self.parts[i + 1:])

    @staticmethod
    def _allowed(part):
        """ON needs a condition."""
        return replace(part, form="CROSS JOIN") if part.form == "ON" and not part.conditions else part

    def product(self):
        """Rows where no condition keeps any away but those of USING and NATURAL JOIN."""
        rows = 1
        for part in self.parts:
            rows *= max(1, part.relation.rows) if not part.conditions and part.form not in ("USING", "NATURAL JOIN") else 1
        return rows


def share(left, right, a, b):
    """Of the pairs of rows, the share in which the columns a and b are equal."""
    pairs = max(1, left.rows) * max(1, right.rows)
    mine, other = left.spreads[a], right.spreads[b]
    if len(mine) > len(other):
        mine, other = other, mine
    return sum(count * other.get(value, 0) for value, count in mine.items()) / pairs


def column_expr(relation, name):
    c = relation.column(name)
    return make(c.kind, f"{relation.alias}.{name}", bound=c.bound, scale=c.scale, stable=c.stable, finite=c.finite, reads=True)


class JoinGenerator:
    """relations: a Relations."""

    def __init__(self, random, relations):
        self.random, self.relations = random, relations

    def make(self):
        while True:
            self.relations.commons = 0
            made = self._make()
            if made is not None:
                return made

    def _make(self):
        r = self.random
        count = r.choices([2, 3, 4, 5], weights=[56, 26, 12, 6])[0]
        relations = [self.relations.make(alias) for alias in self._aliases(count)]
        for i in range(1, count):
            if r.random() < 0.12:  # a join with itself
                same = relations[r.randrange(i)]
                relations[i] = replace(same, alias=relations[i].alias, names=same.names or same.text.startswith("generate_series"))
        if r.random() < 0.1:  # names of their own, but for those that NATURAL JOIN and USING are to find
            common = set(r.sample(["k", "s", "n", "id", "dt", "c", "f"], r.choice([1, 1, 2])))
            relations = [self._names_of_its_own(relation, common) for relation in relations]
        for i, relation in enumerate(relations):
            if r.random() < 0.15 and relation.text.isidentifier() and [x.text for x in relations].count(relation.text) == 1:
                relations[i] = replace(relation, alias=relation.text)
        self.rows, self.keyed = relations[0].rows, False
        self.names = collections.Counter(c.name for c in relations[0].columns)  # of the item, merged columns once
        self.merged = {}  # name -> Column
        self.item = [relations[0]]
        parts = [Part(relations[0], "first of all")]
        for relation in relations[1:]:
            parts.append(self._part(relation, [part.relation for part in parts], len(parts) == count - 1))
        if self.rows > MOST_ROWS or (self.rows < 3 and r.random() < 0.9):
            return None
        return Join(tuple(parts), tuple(self._columns([part.relation for part in parts], parts)), self.keyed)

    def _aliases(self, count):
        aliases = self.random.choice([["a", "b", "c", "d", "e"], ["t1", "t2", "t3", "t4", "t5"], ["lhs", "rhs", "x3", "x4", "x5"]])[:count]
        if self.random.random() < 0.03:
            aliases[-1] = '"The last"'
        return aliases

    @staticmethod
    def _names_of_its_own(relation, common):
        tail = relation.alias.strip('"').replace(" ", "_").lower()
        return relation.renamed(lambda name: name if name in common else f"{name}_{tail}")

    def _part(self, relation, earlier, last):
        r = self.random
        form = r.random()
        if form < 0.08 and self._common(relation):
            return self._natural(relation)
        if form < 0.3:
            made = self._using(relation)
            if made is not None:
                return made
        if form < 0.55:
            form = r.choice([",", ",", "CROSS JOIN"])
            if r.random() < 0.15 and self.rows * relation.rows > 400:
                relation = self.relations.small(relation.alias)
            conditions = () if self.rows * relation.rows <= 400 and r.random() < 0.5 else self._conditions(relation, earlier, last)
            if form == ",":
                self.item, self.names, self.merged = [], collections.Counter(), {}
            self._come(relation)
            if not conditions:
                self.rows *= relation.rows
            return Part(relation, form, conditions=conditions)
        conditions = self._conditions(relation, self.item, last)
        self._come(relation)
        return Part(relation, "ON", r.choice(["JOIN", "JOIN", "INNER JOIN"]), conditions, bracketed=r.random() < 0.08)

    def _come(self, relation):
        self.item.append(relation)
        self.names.update(c.name for c in relation.columns)

    # Columns of the same name.

    def _left(self, name):
        """The item's relation that has the column, or the first of those whose columns are one."""
        return next(relation for relation in self.item if name in (c.name for c in relation.columns))

    def _fits(self, relation, name):
        if self.names[name] != 1:
            return False
        left = self.merged.get(name) or self._left(name).column(name)
        return FAMILIES[left.kind] == FAMILIES[relation.column(name).kind]

    def _common(self, relation):
        """Names that a NATURAL JOIN would take, if it is none that fails."""
        names = [c.name for c in relation.columns if self.names[c.name]]
        if not all(self._fits(relation, name) for name in names) or (len(names) > 3 and self.random.random() < 0.8):
            return None
        return names or (["nothing in common"] if self.rows * relation.rows <= 400 else None)

    def _merge(self, relation, names):
        self.keyed = self.keyed or bool(names)
        self.rows *= relation.rows
        for name in names:
            left_relation, right = self._left(name), relation.column(name)
            left = self.merged.get(name) or left_relation.column(name)
            known = name in left_relation.spreads and name in relation.spreads
            self.rows *= share(left_relation, relation, name, name) if known else 0.1
            kind = left.kind if left.kind not in NUMBERS else NUMBERS[max(NUMBERS.index(left.kind), NUMBERS.index(right.kind))]
            kind = "ts" if "ts" in (left.kind, right.kind) else kind
            stable = left.stable and right.stable and left.scale == right.scale
            self.merged[name] = replace(left, kind=kind, bound=max(left.bound, right.bound), scale=max(left.scale, right.scale), stable=stable,
                                        finite=left.finite and right.finite)
        self.item.append(relation)
        self.names.update(c.name for c in relation.columns if c.name not in names)

    def _natural(self, relation):
        self._merge(relation, [c.name for c in relation.columns if self.names[c.name]])
        return Part(relation, "NATURAL JOIN")

    def _using(self, relation):
        r = self.random
        if r.random() < 0.5:
            relation = self._with_another_key(relation)
        names = [c.name for c in relation.columns if c.name in relation.spreads and self._fits(relation, c.name)]
        if not names:
            return None
        names = r.sample(names, min(len(names), r.choice([1, 1, 1, 2])))
        self._merge(relation, names)
        return Part(relation, "USING", r.choice(["JOIN", "JOIN", "INNER JOIN"]), using=tuple(names), bracketed=r.random() < 0.08)

    def _with_another_key(self, relation):
        """A column of another type gets the name of one of the item's."""
        r = self.random
        mine = {c.name: c for c in relation.columns}
        targets = [name for name in self.names if self.names[name] == 1 and name in self._left(name).spreads]
        r.shuffle(targets)
        for target in targets:
            kind = (self.merged.get(target) or self._left(target).column(target)).kind
            fitting = [name for name in relation.spreads if name != target and FAMILIES[mine[name].kind] == FAMILIES[kind]]
            if fitting:
                name = r.choice(fitting)
                return relation.renamed(lambda old: target if old == name else f"{old}_0" if old == target else old)
        return relation

    # Conditions.

    def _conditions(self, relation, earlier, last):
        """Of ON or WHERE: they keep the rows few enough where that is possible."""
        r, found = self.random, []
        rows = self.rows * relation.rows
        for _ in range(4):
            if found and rows <= MOST_ROWS and r.random() < 0.75:
                break
            made = self._key(relation, earlier, rows)
            if made is None:
                continue
            found.append(made[0])
            rows *= made[1]
        self.rows = rows
        if len(earlier) > 1 and r.random() < 0.25:
            three = self._three(relation, earlier)
            if three is not None:
                found.append(three)
        if last and r.random() < 0.12:
            columns = [c for e in [*earlier, relation] for c in e.qualified()]
            found.append(Generator(r, columns).make("bool", r.randrange(1, 3)))
        if not found:
            found.append(make("bool", r.choice(["true", "1 = 1", "(2 > 1)"])))
        r.shuffle(found)
        return tuple(found)

    def _pair(self, relation, earlier, families):
        """(relation, name, name of relation's) of columns to compare."""
        r = self.random
        pairs = [(e, a, b) for e in earlier for a in e.spreads for b in relation.spreads
                 if FAMILIES[e.column(a).kind] == FAMILIES[relation.column(b).kind] and FAMILIES[e.column(a).kind] in families]
        if not pairs:
            return None
        alike = [pair for pair in pairs if pair[1] == pair[2] and pair[1] != "b"]
        return r.choice(alike) if alike and r.random() < 0.5 else r.choice(pairs)

    def _key(self, relation, earlier, rows):
        """(condition, the share of pairs that meets it), or None."""
        r = self.random
        pair = self._pair(relation, earlier, ("number", "text", "time") if r.random() < 0.95 else ("bool", "number"))
        if pair is None:
            return None
        left, a, b = pair
        x, y, equal = column_expr(left, a), column_expr(relation, b), share(left, relation, a, b)
        if r.random() < 0.4:
            x, y = y, x
        self.keyed, form = True, r.random()
        if form < 0.6:
            return make("bool", x, " = ", y), equal
        if form < 0.65:
            return make("bool", "(", x, " IS NOT DISTINCT FROM ", y, ")"), equal + 0.03
        if form < 0.7 and rows < 2 * MOST_ROWS:
            return make("bool", x, r.choice(COMPARISONS[1:]), y), 0.5
        if form < 0.74 and rows < 10 * MOST_ROWS:
            z = column_expr(relation, r.choice(relation.identity))
            if FAMILIES[z.kind] == FAMILIES[x.kind]:
                return make("bool", "(", x, " = ", y, " OR ", column_expr(left, a), " = ", z, ")"), 2 * equal + 0.01
        if form < 0.78:
            return make("bool", "(", x, " = ", y, ") IS ", r.choice(["TRUE", "NOT FALSE"]) if equal else "TRUE"), equal + 0.1
        return self._expressions(x, y, equal)

    def _expressions(self, x, y, equal):
        """Equal, but for something done to them."""
        r, family = self.random, FAMILIES[x.kind]
        if family == "number":
            whole = x.kind.startswith("int") and y.kind.startswith("int")
            shifts = [("(", x, " + 1) = ", y), (x, " = (", y, " - 1)"), ("(", x, " * 2) = (", y, " * 2)"), ("coalesce(", x, ", 0) = ", y),
                      ("coalesce(", x, ", -1) = coalesce(", y, ", -1)"), ("abs(", x, ") = ", y), (x, " = ", y, " + 0.0"),
                      (x, "::float8 = ", y), (x, " BETWEEN ", y, " AND ", y, " + 1"), ("nullif(", x, ", 3) = ", y)]
            if whole:
                shifts += [("(", x, " % 7) = ", y), (x, "::text = ", y, "::text"), (x, "::bigint = ", y, "::numeric(12,2)")]
            # Values as large as the sample tables' would overflow.
            if max(x.bound, y.bound) > 10000:
                return make("bool", x, " = ", y), equal
            return make("bool", *r.choice(shifts)), 2 * equal + 0.005
        if family == "text":
            changes = [("upper(", x, ") = upper(", y, ")"), ("upper(", x, ") = ", y), ("trim(", x, ") = trim(", y, ")"),
                       ("(", x, " || 'x') = (", y, " || 'x')"), ("lower(", x, ") = ", y, "::text"), (x, "::varchar(3) = ", y),
                       (x, "::char(8) = ", y, "::char(9)"), (y, " LIKE ", x), ("coalesce(", x, ", '') = coalesce(", y, ", '')")]
            return make("bool", *r.choice(changes)), 2 * equal + 0.005
        if family == "time" and x.finite and y.finite:
            changes = [(x, "::date = ", y, "::date"), ("(", x, " + interval '1 day') = ", y), ("date_trunc('day', ", x, ") = ", y)]
            return make("bool", *r.choice(changes)), 2 * equal + 0.005
        return make("bool", x, " = ", y), equal

    def _three(self, relation, earlier):
        """A condition on columns of three relations."""
        r = self.random
        chosen = [relation, *r.sample(earlier, 2)]
        numbers = [[c.name for c in e.columns if c.name in e.spreads and FAMILIES[c.kind] == "number" and c.bound <= 10000 and c.finite]
                   for e in chosen]
        if not all(numbers):
            return None
        x, y, z = (column_expr(e, r.choice(names)) for e, names in zip(chosen, numbers))
        return make("bool", *r.choice([
            ("(", x, " + ", y, " > ", z, ")"), ("(", x, " BETWEEN least(", y, ", ", z, ") AND greatest(", y, ", ", z, "))"),
            ("(", x, " <= ", y, " + ", z, ")"), ("coalesce(", x, " + ", y, " <> ", z, ", true)"),
            ("(", x, " = ", y, " OR ", y, " = ", z, " OR ", x, " < ", z, ")"), ("(", x, " - ", y, " < ", z, " OR ", z, " IS NULL)")]))

    def _columns(self, relations, parts):
        """Columns with the names by which a query may call them: with their relation's, or without where only one has it."""
        r = self.random
        found = [c for relation in relations for c in relation.qualified()]
        names, merged = collections.Counter(), dict(self.merged)
        several_items = any(part.form == "," for part in parts)
        names.update(c.name for relation in relations for c in relation.columns)
        for relation in relations:
            found += [c for c in relation.columns if names[c.name] == 1 and r.random() < 0.3]
        if not several_items:
            for name, column in merged.items():
                if self.names[name] == 1:
                    found += [column] * 3
        return found
