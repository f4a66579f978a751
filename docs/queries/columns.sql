-- What each column means
-- The dictionary of this file, table by table.
SELECT table_name, column_name, meaning, source_path
FROM dictionary
ORDER BY table_name, position;
