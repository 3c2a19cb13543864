#!/bin/bash
# MySQL: "order by ... limit 1" reads one row of an index for a constant, and the whole table for a column of the outer query.
#
# Version:   MySQL 9.7 (image mysql:9.7).
# Behaviour: An index begins with the two columns that the subquery compares, and continues with the one it orders by. For a constant,
#            the server reads the first entry. In a subquery of the select list that compares with the outer row, it reads and sorts the
#            table. With "= (select min(...))" in place of the order it uses the index.
# Seen:      constant, order by number limit 1: fewer than 100 reads
#            column of the outer query, order by number limit 1: more than 100,000 reads
#            column of the outer query, number = (select min(number) ...): fewer than 100 reads
# A good engineer would guess that the subquery costs one look-up in the index for each outer row, as the same query does by itself.
#
# Needs: Docker. Fails if the behaviour has changed.
set -euo pipefail
command -v docker >/dev/null || { echo "docker is needed" >&2; exit 1; }
server=$(docker run -d --rm -e MYSQL_ROOT_PASSWORD=secret -e MYSQL_DATABASE=test mysql:9.7)
trap 'docker rm -f "$server" >/dev/null' EXIT

mysql() {
  docker exec -i -e MYSQL_PWD=secret "$server" mysql -h127.0.0.1 -uroot -N test
}
for attempt in $(seq 90); do # over TCP, which the server of the image's own set-up does not offer
  mysql <<<'select 1' >/dev/null 2>&1 && break
  [ "$attempt" -lt 90 ] || { echo "The server did not start within 90 seconds" >&2; exit 1; }
  sleep 1
done

mysql <<'SQL'
create table shop (id bigint primary key) engine=InnoDB;
insert into shop values (1);
create table purchase (id bigint primary key, shop_id bigint not null, state varchar(16) not null, number bigint not null,
    note varchar(100) not null, key in_order (shop_id, state, number)) engine=InnoDB;
set session cte_max_recursion_depth = 100000;
insert into purchase with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    select i, 1, if(i > 99990, 'OPEN', 'DONE'), i, concat('purchase ', i) from n;
analyze table shop, purchase;
SQL

# what least most query: executes the query, and compares the number of reads of rows (Handler_read_...)
check() {
  local result note reads
  result=$(mysql <<<"flush status; $4; select sum(variable_value) from performance_schema.session_status where variable_name like 'Handler_read%'")
  note=$(head -1 <<<"$result")
  reads=$(tail -1 <<<"$result")
  echo "$1: $reads reads, $note"
  [ "$note" = "purchase 99991" ] && [ "$reads" -ge "$2" ] && [ "$reads" -le "$3" ] ||
    { echo "The behaviour has changed. $1: expected $2 to $3 reads" >&2; exit 1; }
}

mysql <<<'select version()'
check "constant, order by number limit 1" 1 100 "
  select p.note from purchase p where p.shop_id = 1 and p.state = 'OPEN' order by p.number limit 1"
check "column of the outer query, order by number limit 1" 100000 200000 "
  select (select p.note from purchase p where p.shop_id = s.id and p.state = 'OPEN' order by p.number limit 1) from shop s"
check "column of the outer query, number = (select min(number) ...)" 1 100 "
  select (select p.note from purchase p where p.shop_id = s.id and p.state = 'OPEN' and p.number =
    (select min(f.number) from purchase f where f.shop_id = s.id and f.state = 'OPEN')) from shop s"
