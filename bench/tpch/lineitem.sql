-- The table of TPC-H that q1 and q6 read, with the types of the specification (1.4.1).
create table lineitem (
    l_orderkey bigint not null,
    l_partkey bigint not null,
    l_suppkey bigint not null,
    l_linenumber integer not null,
    l_quantity numeric(15,2) not null,
    l_extendedprice numeric(15,2) not null,
    l_discount numeric(15,2) not null,
    l_tax numeric(15,2) not null,
    l_returnflag char(1) not null,
    l_linestatus char(1) not null,
    l_shipdate date not null,
    l_commitdate date not null,
    l_receiptdate date not null,
    l_shipinstruct char(25) not null,
    l_shipmode char(10) not null,
    l_comment varchar(44) not null
);
