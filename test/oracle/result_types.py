"""PostgreSQL's types, by oid and modifier, as SQL writes them."""

NAME_OF_OID = {16: "boolean", 21: "smallint", 23: "integer", 20: "bigint", 700: "real", 701: "double precision", 1700: "numeric",
               1082: "date", 1114: "timestamp without time zone", 1186: "interval", 25: "text", 1043: "character varying",
               1042: "character", 705: "unknown"}


def type_name(oid, modifier):
    """-1 is no modifier. The fields and precision of an interval are not told: they are part of no value."""
    name = NAME_OF_OID.get(oid, f"oid {oid}")
    if modifier < 0 or name == "interval":
        return name
    if name == "numeric":
        return f"numeric({(modifier - 4) >> 16},{(modifier - 4) & 0x7ff})"
    if name in ("character varying", "character"):
        return f"{name}({modifier - 4})"
    return f"{name}({modifier})"
