/**
 * Defines the functions and operators of SQLite that PostgreSQL lacks, with the same names and meanings. Each
 * figure, view and rule therefore needs only one SQL text for both databases. Analysts can use the functions
 * too.
 */

/** Exactly 2^-62, which turns the fraction of a double into an exact decimal. */
const TWO_TO_MINUS_62 = '0.00000000000000000021684043449710088680149056017398834228515625'

const IN_UTC = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`

/** JSON escapes that PostgreSQL cannot hold. An escaped backslash before `u` is handled at the use. */
const UNTELLABLE = [
  String.raw`\\u0000`,
  String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])`,
  String.raw`(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}`,
].join('|')

/** The statements that create the functions. All of them run again whenever one of them changes. */
export const FUNCTIONS: readonly string[] = [
  `CREATE OR REPLACE FUNCTION iif(condition boolean, yes anycompatible, no anycompatible) RETURNS anycompatible
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN condition THEN yes ELSE no END'`,
  `CREATE OR REPLACE FUNCTION ifnull(value anycompatible, instead anycompatible) RETURNS anycompatible
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT coalesce(value, instead)'`,
  // The functions max and min of SQLite are null where one value is null, unlike greatest and least.
  `CREATE OR REPLACE FUNCTION max(a anycompatible, b anycompatible) RETURNS anycompatible
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE greatest(a, b) END'`,
  `CREATE OR REPLACE FUNCTION max(a anycompatible, b anycompatible, c anycompatible) RETURNS anycompatible
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN a IS NULL OR b IS NULL OR c IS NULL THEN NULL ELSE greatest(a, b, c) END'`,
  `CREATE OR REPLACE FUNCTION min(a anycompatible, b anycompatible) RETURNS anycompatible
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE least(a, b) END'`,
  // Rounds as SQLite does: it uses the exact value of the double, and rounds halves away from zero.
  `CREATE OR REPLACE FUNCTION round(value double precision, digits integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT CASE WHEN abs(value) >= 4503599627370496 THEN value
      ELSE pg_catalog.round(trunc(value)::bigint::numeric
        + ((value - trunc(value)) * 4611686018427387904)::bigint::numeric * ${TWO_TO_MINUS_62}, digits)::double precision END $$`,
  // Returns the bytes of a text in hex. Values from JSON have no collation, so they are sorted by these
  // bytes.
  `CREATE OR REPLACE FUNCTION hex(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    $$ SELECT coalesce(encode(convert_to(value, 'UTF8'), 'hex'), '') $$`,

  // Instants are texts such as 2026-11-21T06:00:00.000Z.
  `CREATE OR REPLACE FUNCTION julianday(at text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT (round(extract(epoch FROM at::timestamptz) * 1000)::bigint + 210866760000000)::double precision / 86400000'`,
  `CREATE OR REPLACE FUNCTION strftime(format text, at text, shift text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    $$ SELECT to_char((at::timestamptz + shift::interval) AT TIME ZONE 'UTC', ${IN_UTC}) $$`,

  // Replaces JSON escapes that PostgreSQL cannot hold by U+FFFD.
  String.raw`CREATE OR REPLACE FUNCTION json_of(document text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    $$ SELECT CAST(CASE WHEN strpos(document, '\u') = 0 THEN document
      ELSE regexp_replace(document, '(?<!\\)((?:\\\\)*)(?:${UNTELLABLE})', '\1\\ufffd', 'g') END AS json) $$`,
  `CREATE OR REPLACE FUNCTION json_each(list text, OUT key bigint, OUT value text) RETURNS SETOF record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20 AS $$
    SELECT place - 1, CASE json_typeof(element) WHEN 'null' THEN NULL WHEN 'string' THEN element #>> '{}' ELSE element::text END
    FROM json_array_elements(json_of(list)) WITH ORDINALITY AS each (element, place) $$`,
  // Uses RETURN, so that PostgreSQL stores the parsed body, which refers to our other functions directly.
  // While a dump is restored, computed columns call this function, but PostgreSQL does not find our functions
  // by name.
  `CREATE OR REPLACE FUNCTION json_part(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN json_of(document) #>> CASE WHEN left(path, 1) = '$'
      THEN string_to_array(ltrim(regexp_replace(substr(path, 2), '\\[(\\d+)\\]', '.\\1', 'g'), '.'), '.') ELSE ARRAY[path] END`,
  `CREATE OR REPLACE FUNCTION json_part(list text, place integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN json_of(list) ->> place`,
  // Returns a JSON number as it is, and a JSON boolean as 1 or 0.
  `CREATE OR REPLACE FUNCTION json_number(document text, path text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT CASE part WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE
      CASE WHEN part ~ '^-?[0-9]{1,200}(\\.[0-9]{1,200})?([eE][-+]?[0-9]{1,2})?$' THEN part::double precision END END
    FROM (SELECT json_part(document, path) AS part) AS found)`,
  `CREATE OR REPLACE FUNCTION json_count(document text, path text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT CASE part WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE
      CASE WHEN part ~ '^-?[0-9]{1,18}$' THEN part::bigint END END
    FROM (SELECT json_part(document, path) AS part) AS found)`,
  `CREATE OR REPLACE FUNCTION same(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT value'`,
  `DO $$ BEGIN
    IF to_regoperator('->> (text, text)') IS NULL THEN
      CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part);
    END IF;
    IF to_regoperator('->> (text, integer)') IS NULL THEN
      CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = json_part);
    END IF;
    -- The sign + keeps SQLite from using an index; for PostgreSQL it changes nothing.
    IF to_regoperator('+ (NONE, text)') IS NULL THEN
      CREATE OPERATOR + (RIGHTARG = text, FUNCTION = same);
    END IF;
    IF to_regprocedure('total(double precision)') IS NULL THEN
      CREATE AGGREGATE total (double precision) (SFUNC = float8pl, STYPE = double precision, INITCOND = '0', PARALLEL = SAFE, COMBINEFUNC = float8pl);
    END IF;
  END $$`,
]
