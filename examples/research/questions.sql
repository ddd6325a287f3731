-- Five questions to a collection, for DuckDB. The two files are made by
--   arcrawl index -o captures.parquet /var/lib/arcrawl/warc
--   arcrawl changes --since 90d --json > changes.jsonl
-- and the command is: duckdb < questions.sql

-- How fast does each site correct its articles? Time from the first capture of a URL to its first change, in hours.
WITH times AS (
  SELECT url_host_name, url, min(fetch_time) AS first,
    min(fetch_time) FILTER (payload_change = 'changed') AS changed
  FROM 'captures.parquet' WHERE fetch_status = 200 AND url_path <> '/' GROUP BY ALL)
SELECT url_host_name, count(*) AS urls, count(changed) AS corrected,
  round(median(date_diff('second', first, changed)) / 3600.0, 1) AS median_hours
FROM times GROUP BY ALL ORDER BY corrected DESC, url_host_name;

-- Who removes most? Pages that were withdrawn, and words that left articles.
SELECT host, count(*) FILTER (list_contains(change.kinds, 'withdrawn')) AS withdrawn, sum(change.words.removed) AS words
FROM 'changes.jsonl' GROUP BY ALL ORDER BY withdrawn DESC, words DESC, host;

-- At which hour of the day (UTC) do headlines change?
SELECT extract(hour FROM CAST("at" AS TIMESTAMP)) AS hour, count(*) AS headlines
FROM 'changes.jsonl' WHERE list_contains(change.kinds, 'headline') GROUP BY ALL ORDER BY hour;

-- Which versions of front pages are there of a day? The last one before noon, of each site.
SELECT url_host_name, max(fetch_time) AS at_noon, arg_max(warc_filename, fetch_time) AS file,
  arg_max(warc_record_offset, fetch_time) AS record
FROM 'captures.parquet' WHERE url_path = '/' AND extract(hour FROM fetch_time) < 12
GROUP BY url_host_name, CAST(fetch_time AS DATE) ORDER BY at_noon, url_host_name;

-- How much of what was asked for was new? Of each site and day. What was missed is told by: arcrawl report days
SELECT url_host_name, CAST(fetch_time AS DATE) AS day, count(*) AS captures,
  count(*) FILTER (payload_change <> 'unchanged') AS versions
FROM 'captures.parquet' GROUP BY ALL ORDER BY day, url_host_name;
