#!/bin/sh
# A copy of the schema `leadsheet` in /backups, which gets its name when all of it was read once more.
# To PostgreSQL by PGHOST, PGUSER and PGDATABASE; docs/how-to/postgresql-and-workers.md says how a copy is put back.
set -eu
umask 077
PGPASSWORD=$(cat /run/secrets/store-password)
export PGPASSWORD
file=/backups/leadsheet-$(date -u +%Y%m%dT%H%M%SZ).dump
trap 'rm -f "$file.part"' EXIT
pg_dump --format=custom --schema=leadsheet --file="$file.part"
pg_restore --file=/dev/null "$file.part"
mv "$file.part" "$file"
echo "$file"
