#!/bin/bash
# MySQL: after the client of several statements in one text has gone, the server executes the others and the commit, but ROW_COUNT() may
# be -1 in them.
#
# Version:   MySQL 9.7 (image mysql:9.7), PyMySQL 1.2.3.
# Behaviour: One text updates a row, records the row count of the statement before in four inserts, and commits. Its client
#            closes the connection while the update waits for a lock. When the lock is free, the server executes the whole text. After
#            a statement whose answer could not be sent, the row count is -1 instead of 1: a statement that depends on it changes nothing,
#            and the commit makes the others durable.
# Seen:      with a client: row counts 1, 1, 1, 1
#            without a client: row counts such as 1, 1, 1, -1; committed in 30 of 30 rounds
# A good engineer would guess that a transaction whose client has gone is rolled back, or else committed as it would be with the client.
#
# Needs: Docker, Python 3 with venv. Fails if the behaviour has changed.
set -euo pipefail
command -v docker >/dev/null || { echo "docker is needed" >&2; exit 1; }
directory=$(mktemp -d)
server=$(docker run -d --rm -e MYSQL_ROOT_PASSWORD=secret -e MYSQL_DATABASE=test -p 127.0.0.1::3306 mysql:9.7)
trap 'docker rm -f "$server" >/dev/null; rm -rf "$directory"' EXIT
python3 -m venv "$directory/venv"
"$directory/venv/bin/pip" install --quiet pymysql==1.2.3 cryptography==50.0.2
port=$(docker port "$server" 3306/tcp | head -1 | sed 's/.*://')

cat >"$directory/gone.py" <<'PYTHON'
import importlib.metadata, sys, time
import pymysql
from pymysql.constants import CLIENT, COMMAND

def connect():
    return pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", password="secret", database="test",
                           client_flag=CLIENT.MULTI_STATEMENTS, autocommit=False)

for attempt in range(90):
    try:
        holder = connect()
        break
    except pymysql.err.OperationalError:
        time.sleep(1)
cursor = holder.cursor()
cursor.execute("select version()")
print("MySQL", cursor.fetchone()[0], "PyMySQL", importlib.metadata.version("pymysql"))
cursor.execute("create table counter (id int primary key, n int not null) engine=InnoDB")
cursor.execute("create table seen (round int, step int, row_count int) engine=InnoDB")
cursor.execute("insert into counter values (1, 0)")
holder.commit()

def run(round, close):
    """Sends the text while another transaction has locked the row, and frees the row when the server waits for it."""
    cursor.execute("select n from counter where id = 1 for update")
    client = connect()
    text = "update counter set n = n + 1 where id = 1; " + "".join(
        f"insert into seen select {round}, {step}, row_count(); " for step in range(1, 5)) + "commit"
    client._execute_command(COMMAND.COM_QUERY, text)
    watch = connect()
    with watch.cursor() as processes:
        while True:
            processes.execute("select count(*) from information_schema.processlist where info like 'update counter%'")
            if processes.fetchone()[0]:
                break
            time.sleep(0.01)
    if close:
        client._sock.close()
        client._rfile.close()
    time.sleep(0.1)
    holder.rollback()
    for _ in range(100):
        holder.rollback()
        cursor.execute("select row_count from seen where round = %s order by step", (round,))
        rows = [row[0] for row in cursor.fetchall()]
        holder.rollback()
        if len(rows) == 4:
            break
        time.sleep(0.02)
    watch.close()
    return rows

there = run(0, False)
print("with a client:", there)
gone = [run(round, True) for round in range(1, 31)]
committed = [rows for rows in gone if rows]
print("without a client:", committed[:5], f"… {len(committed)} of {len(gone)} committed")
sys.exit(0 if there == [1, 1, 1, 1] and any(-1 in rows for rows in committed) else "The behaviour has changed")
PYTHON
"$directory/venv/bin/python" "$directory/gone.py" "$port"
