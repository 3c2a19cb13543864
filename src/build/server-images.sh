#!/bin/bash
# Usage: src/build/server-images.sh mysql:9.7|mariadb:11.8|mariadb:10.11|postgres:15...
#
# For a Debian machine that reaches Debian's packages but no registry of container images: makes sure that a Docker engine runs (installs and
# starts Debian's docker.io where none does), and builds local images of Debian's server packages. They are named like the official images and
# take the same environment variables, so that Testcontainers starts the real servers:
#
#   mysql:9.7                 of sid                  MYSQL_DATABASE MYSQL_USER MYSQL_PASSWORD MYSQL_ROOT_PASSWORD   port 3306
#   mariadb:11.8, :10.11      of Debian 13, 12        MARIADB_* or MYSQL_*                                           port 3306
#   postgres:17, :15          of Debian 13, 12        POSTGRES_DB POSTGRES_USER POSTGRES_PASSWORD PGDATA             port 5432
#   postgres:18, :19          of sid, experimental    the same
#
# An image that is there is kept. Testcontainers needs TESTCONTAINERS_HOST_OVERRIDE=localhost TESTCONTAINERS_RYUK_DISABLED=true then, since its
# own helper image cannot be pulled either. Needs root. Takes about a minute for each image.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
work=${TMPDIR:-/tmp}/server-images

engine() {
  docker info >/dev/null 2>&1 && return
  command -v dockerd >/dev/null && command -v debootstrap >/dev/null || {
    apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io iptables iproute2 debootstrap xz-utils >/dev/null; }
  setsid dockerd >/tmp/dockerd.log 2>&1 < /dev/null &
  for _ in $(seq 60); do docker info >/dev/null 2>&1 && return; sleep 0.5; done
  echo "server-images: dockerd did not start; see /tmp/dockerd.log" >&2; exit 1
}

mirror() { # the Debian mirror this machine already uses
  grep -hoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null | head -1 | tr -d ' '
}

rootfs() { # suite packages
  command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  [ -e /usr/share/debootstrap/scripts/"$1" ] || ln -s sid /usr/share/debootstrap/scripts/"$1"
  rm -rf "$work/root"; mkdir -p "$work"
  debootstrap --variant=minbase --include="$2" "$1" "$work/root" "$(mirror)" >"$work/debootstrap.log" 2>&1 ||
    { tail -5 "$work/debootstrap.log" >&2; exit 1; }
  shrink
}

shrink() {
  rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/* "$work"/root/usr/share/doc "$work"/root/var/lib/mysql/*
}

experimental() { # package...: what is named package/experimental, and what sid has not, is of experimental
  rootfs sid ca-certificates
  echo "deb $(mirror) experimental main" >"$work/root/etc/apt/sources.list.d/experimental.list"
  printf '#!/bin/sh\nexit 101\n' >"$work/root/usr/sbin/policy-rc.d" # no service is started
  chmod 755 "$work/root/usr/sbin/policy-rc.d"
  # A mirror may have been copied long ago. The scripts of the packages need /proc.
  unshare --mount bash -euc 'mount -t proc proc "$0/proc"
      chroot "$0" apt-get update -qq -o Acquire::Check-Valid-Until=false
      chroot "$0" apt-get install -y -qq --no-install-recommends "$@"' "$work/root" "$@" >"$work/apt.log" 2>&1 ||
    { tail -5 "$work/apt.log" >&2; exit 1; }
  shrink
}

image() { # port
  install -m 755 "$work/entrypoint" "$work/root/usr/local/bin/docker-entrypoint.sh"
  tar -C "$work/root" -c . | docker import --change "EXPOSE $1" --change 'ENTRYPOINT ["docker-entrypoint.sh"]' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'ENV LANG=C.UTF-8' - "$name" >/dev/null
  rm -rf "$work/root"
}

mysql() {
  rootfs sid mysql-server-core,mysql-client
  cat >"$work/entrypoint" <<'S'
#!/bin/sh
set -e
d=/var/lib/mysql; mkdir -p /run/mysqld /var/lib/mysql-files $d
if [ ! -d $d/mysql ]; then
  mysqld --initialize-insecure --user=root --datadir=$d
  : >/init.sql
  [ -z "$MYSQL_DATABASE" ] || echo "CREATE DATABASE IF NOT EXISTS \`$MYSQL_DATABASE\`;" >>/init.sql
  if [ -n "$MYSQL_USER" ] && [ "$MYSQL_USER" != root ]; then
    echo "CREATE USER IF NOT EXISTS '$MYSQL_USER'@'%' IDENTIFIED BY '$MYSQL_PASSWORD';" >>/init.sql
    [ -z "$MYSQL_DATABASE" ] || echo "GRANT ALL ON \`$MYSQL_DATABASE\`.* TO '$MYSQL_USER'@'%';" >>/init.sql
  fi
  echo "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$MYSQL_ROOT_PASSWORD'; GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;" >>/init.sql
  echo "ALTER USER 'root'@'localhost' IDENTIFIED BY '$MYSQL_ROOT_PASSWORD';" >>/init.sql
fi
[ "$1" != mysqld ] || shift
exec mysqld --user=root --datadir=$d --bind-address=0.0.0.0 --init-file=/init.sql "$@"
S
  image 3306
}

mariadb() { # suite
  rootfs "$1" mariadb-server-core,mariadb-client
  cat >"$work/entrypoint" <<'S'
#!/bin/sh
set -e
db=${MARIADB_DATABASE:-$MYSQL_DATABASE} user=${MARIADB_USER:-$MYSQL_USER} pw=${MARIADB_PASSWORD:-$MYSQL_PASSWORD} rpw=${MARIADB_ROOT_PASSWORD:-$MYSQL_ROOT_PASSWORD}
d=/var/lib/mysql; mkdir -p /run/mysqld $d
if [ ! -d $d/mysql ]; then
  mariadb-install-db --user=root --datadir=$d --auth-root-authentication-method=normal >/dev/null
  : >/init.sql
  [ -z "$db" ] || echo "CREATE DATABASE IF NOT EXISTS \`$db\`;" >>/init.sql
  if [ -n "$user" ] && [ "$user" != root ]; then
    echo "CREATE USER IF NOT EXISTS '$user'@'%' IDENTIFIED BY '$pw';" >>/init.sql
    [ -z "$db" ] || echo "GRANT ALL ON \`$db\`.* TO '$user'@'%';" >>/init.sql
  fi
  echo "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$rpw'; GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;" >>/init.sql
fi
case "$1" in mariadbd|mysqld) shift;; esac
exec mariadbd --user=root --datadir=$d --bind-address=0.0.0.0 --init-file=/init.sql "$@"
S
  image 3306
}

postgres() { # suite version
  case $1 in experimental) experimental "postgresql-$2" libpq5/experimental;; *) rootfs "$1" "postgresql-$2";; esac
  cat >"$work/entrypoint" <<'S'
#!/bin/sh
set -e
d=${PGDATA:-/var/lib/postgresql/data}; b=$(echo /usr/lib/postgresql/*/bin); user=${POSTGRES_USER:-postgres}
mkdir -p $d /var/run/postgresql; chown -R postgres $d /var/run/postgresql; chmod 700 $d
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
if [ ! -s $d/PG_VERSION ]; then
  printf %s "${POSTGRES_PASSWORD:-postgres}" >/pw; chmod 644 /pw
  as $b/initdb -D $d -U "$user" --pwfile=/pw --auth=scram-sha-256 --auth-local=trust >/dev/null
  echo "host all all all scram-sha-256" >>$d/pg_hba.conf
  as $b/pg_ctl -D $d -w -o "-c listen_addresses=''" start
  [ "${POSTGRES_DB:-$user}" = postgres ] || as $b/createdb -U "$user" "${POSTGRES_DB:-$user}"
  as $b/pg_ctl -D $d -w -m fast stop
fi
[ "$1" != postgres ] || shift
exec setpriv --reuid=postgres --regid=postgres --clear-groups $b/postgres -D $d -c listen_addresses='*' "$@"
S
  image 5432
}

engine
for name in "$@"; do
  docker image inspect "$name" >/dev/null 2>&1 ||
    case $name in
      mysql:9.7) mysql;;
      mariadb:10.11) mariadb bookworm;;
      mariadb:11.8) mariadb trixie;;
      postgres:15) postgres bookworm 15;;
      postgres:17) postgres trixie 17;;
      postgres:18) postgres sid 18;;
      postgres:19) postgres experimental 19;;
      *) echo "server-images: Debian has no server for $name" >&2; exit 2;;
    esac
  echo "$name ready"
done
