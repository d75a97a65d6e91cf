"""The dependencies between the transactions of a history, and the cycles that must not be among them.

    ww   a value comes behind another one's in a list
    wr   a transaction reads a list that ends in another one's value
    rw   a transaction reads a list, and another one appends the next value to it (an anti-dependency)

cycles() looks for these kinds. The first two are forbidden at every isolation level:
    G0               ww alone
    G1c              ww and wr
    G-single, G-nonadjacent
                     one rw, or several, but no two of them in a row: snapshot isolation forbids them. An rw counts only
                     where the reader is REPEATABLE READ. To find them a transaction is two nodes, its snapshot and its
                     commit; ww and wr go from a commit to a snapshot, rw from a snapshot to a commit (Adya 1999, section
                     4.3; Fekete et al. 2005). Then any cycle is one.
    order            any cycle of Diptych's own promises: commits and snapshots have one order, and what has ended before
                     a snapshot is made is seen by it. Every statement of READ COMMITTED is a node of its own here, the
                     snapshot of REPEATABLE READ and each commit are one, and "ended before it began" is a dependency,
                     too.
    writer order     the same with what transactions read under READ COMMITTED while they have the turn to write.
"""

from history import COMMITTED, NEVER


class Graph:
    """Nodes are any keys; an edge has a label."""

    def __init__(self):
        self.edges = {}

    def add(self, source, target, label):
        if source != target:
            self.edges.setdefault(source, {}).setdefault(target, label)
            self.edges.setdefault(target, {})

    def components(self):
        """Sets of nodes that reach each other, of two nodes or more: Tarjan's algorithm, without recursion."""
        index, low, stack, is_on_stack, found = {}, {}, [], set(), []
        for root in self.edges:
            if root in index:
                continue
            work = [(root, iter(self.edges[root]))]
            index[root] = low[root] = len(index)
            stack.append(root)
            is_on_stack.add(root)
            while work:
                node, targets = work[-1]
                new = next((target for target in targets if self._visit(node, target, index, low, is_on_stack)), None)
                if new is not None:
                    index[new] = low[new] = len(index)
                    stack.append(new)
                    is_on_stack.add(new)
                    work.append((new, iter(self.edges[new])))
                    continue
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(self._take(node, stack, is_on_stack))
        return [component for component in found if len(component) > 1]

    @staticmethod
    def _visit(node, target, index, low, is_on_stack):
        """Whether the target is new; else what is known of it is noted."""
        if target not in index:
            return True
        if target in is_on_stack:
            low[node] = min(low[node], index[target])
        return False

    @staticmethod
    def _take(node, stack, is_on_stack):
        component = set()
        while node not in component:
            component.add(stack.pop())
        is_on_stack -= component
        return component

    def shortest_cycle(self, component):
        """Its nodes, the first one again at the end. It begins with a node that has a name."""
        best = None
        for start in filter(str, component):
            before, queue = {start: None}, [start]
            for node in queue:
                if start in self.edges[node]:
                    path = [start]
                    while node:
                        path.append(node)
                        node = before[node]
                    if best is None or len(path) < len(best):
                        best = path[::-1]
                    break
                for target in self.edges[node]:
                    if target in component and target not in before:
                        before[target] = node
                        queue.append(target)
        return best


def is_committed(transaction):
    return transaction is not None and transaction.ended == COMMITTED


class Dependencies:
    """ww, wr and rw of a history, as (kind, source, target, key, statement); the statement is the one that reads."""

    def __init__(self, history, writers):
        self.history, self.writers = history, writers

    def versions(self, key):
        """The committed writers of a key in order, each as often as it appended."""
        return [self.writers.of.get((key, value)) for value in self.history.final.get(key, [])]

    def between_writers(self):
        for key in self.history.final:
            order = self.versions(key)
            for source, target in zip(order, order[1:]):
                if source is not target and is_committed(source) and is_committed(target):
                    yield "ww", source, target, key, None

    def of_reads(self, transactions):
        for transaction in transactions:
            for statement in transaction.statements:
                for key, seen in statement.seen.items():
                    yield from self._of_read(transaction, statement, key, seen)

    def _of_read(self, transaction, statement, key, seen):
        order = self.versions(key)
        others = [self.writers.of.get((key, value)) for value in seen]
        others = [writer for writer in others if writer is not transaction]
        if others and is_committed(others[-1]):
            yield "wr", others[-1], transaction, key, statement
        following = order[len(others)] if len(others) < len(order) else None
        if following is not transaction and is_committed(following):
            yield "rw", transaction, following, key, statement


def cycles(history, writers):
    """Cycles that must not be there, as (kind, text): of a kind one for each set of transactions that reach each other."""
    dependencies = Dependencies(history, writers)
    committed = [transaction for transaction in history.transactions if is_committed(transaction)]
    edges = [*dependencies.between_writers(), *dependencies.of_reads(committed)]
    return [*find("G0", commit_graph(edges, ["ww"])), *find("G1c", commit_graph(edges, ["ww", "wr"])),
            *find("G-single", snapshot_graph(edges, committed)), *order_cycles(dependencies)]


def order_cycles(dependencies):
    """Those without the reads of writers, or else those with them."""
    return [*find("order", order_graph(dependencies, False))] or [*find("writer order", order_graph(dependencies, True))]


def find(kind, graph):
    for component in graph.components():
        cycle = graph.shortest_cycle(component)
        labels = [graph.edges[source][target] for source, target in zip(cycle, cycle[1:])]
        yield from named(kind, labels, shown(cycle, labels))


def shown(cycle, labels):
    """The cycle as a text. Moments have no name: what leads to one leads to the node behind it."""
    text, label = str(cycle[0]), ""
    for new, node in zip(labels, cycle[1:]):
        label = label or new
        if str(node):
            text, label = f"{text} -{label}-> {node}", ""
    return text


def named(kind, labels, text):
    """The cycle under its own kind; nothing, where a graph of fewer dependencies has it as well."""
    anti = sum(label.startswith("rw") for label in labels)
    if kind == "G1c" and not any(label.startswith("wr") for label in labels):
        return
    if kind == "G-single" and anti != 1:
        kind = "G-nonadjacent"
    if kind != "G-nonadjacent" or anti:
        yield kind, text


class Node:
    """A transaction, or a statement of one, as a node."""

    def __init__(self, text, start, end):
        self.text, self.start, self.end = text, start, end

    def __str__(self):
        return self.text


def commit_graph(edges, kinds):
    graph = Graph()
    nodes = {}
    for kind, source, target, key, _ in edges:
        if kind in kinds:
            graph.add(*(nodes.setdefault(id(one), Node(str(one), 0, 0)) for one in (source, target)), f"{kind} key {key}")
    return graph


def snapshot_graph(edges, committed):
    """Two nodes a transaction of REPEATABLE READ: its snapshot and its commit."""
    graph = Graph()
    snapshots = {id(one): Node(f"snapshot of {one}", 0, 0) for one in committed if one.is_repeatable()}
    commits = {id(one): Node(str(one), 0, 0) for one in committed}
    for one, snapshot in snapshots.items():
        graph.add(snapshot, commits[one], "then")
    for kind, source, target, key, _ in edges:
        if kind != "rw":
            graph.add(commits[id(source)], snapshots.get(id(target), commits[id(target)]), f"{kind} key {key}")
        elif id(source) in snapshots:
            graph.add(snapshots[id(source)], commits[id(target)], f"rw key {key}")
    return graph


def order_graph(dependencies, with_writers):
    """Statements, and what ended before they began."""
    graph, reads, writes = Graph(), {}, {}
    for transaction in dependencies.history.transactions:
        add_nodes(transaction, with_writers, reads, writes)
    for kind, source, target, key, _ in dependencies.between_writers():
        graph.add(writes[id(source)], writes[id(target)], f"{kind} key {key}")
    for kind, source, target, key, statement in dependencies.of_reads(dependencies.history.transactions):
        if kind == "wr" and id(statement) in reads:
            graph.add(writes[id(source)], reads[id(statement)], f"{kind} key {key}")
        elif id(statement) in reads:
            graph.add(reads[id(statement)], writes[id(target)], f"{kind} key {key}")
    add_times(graph, {id(node): node for node in [*reads.values(), *writes.values()]}.values())
    return graph


def add_nodes(transaction, with_writers, reads, writes):
    """Under REPEATABLE READ the snapshot is a node, else each statement that reads; and the commit."""
    if transaction.is_repeatable() and transaction.statements:
        first = transaction.statements[0]
        snapshot = Node(f"snapshot of {transaction}", first.start, first.end)
        reads.update({id(statement): snapshot for statement in transaction.statements if statement.seen})
    else:
        for number, statement in enumerate(transaction.statements, 1):
            if statement.seen and (with_writers or not statement.has_turn):
                reads[id(statement)] = Node(f"statement {number} of {transaction}", statement.start, statement.end)
    if is_committed(transaction):
        writes[id(transaction)] = Node(f"commit of {transaction}", transaction.commit_start, transaction.commit_end)


def add_times(graph, nodes):
    """"Ended before it began", through a chain of moments, so that the edges are few: node -> moment -> moment -> node."""
    events = sorted([(node.end, 0, node) for node in nodes if node.end < NEVER] + [(node.start, 1, node) for node in nodes],
                    key=lambda event: event[:2])
    moment = None
    for time, is_start, node in events:
        if is_start:
            if moment:
                graph.add(moment, node, "")
            continue
        new = Node("", time, time)
        if moment:
            graph.add(moment, new, "")
        graph.add(node, new, "ended before")
        moment = new
