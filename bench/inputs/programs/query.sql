-- SPDX-License-Identifier: Apache-2.0
PRAGMA cache_size=20000;
CREATE TABLE word(id INTEGER PRIMARY KEY, name TEXT, length INTEGER, score REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
INSERT INTO word SELECT i, printf('w%x', i * 2654435761 % 1000003), i * 7919 % 97, i * 0.37 FROM n;
CREATE INDEX by_name ON word(name);
CREATE TABLE pair AS SELECT a.id AS a, b.id AS b FROM word a JOIN word b ON a.name = b.name AND a.id < b.id;
SELECT length, count(*), avg(score), max(name) FROM word WHERE name LIKE '%a%' GROUP BY length ORDER BY 2 DESC;
SELECT count(*) FROM pair JOIN word ON pair.a = word.id WHERE word.length BETWEEN 10 AND 50;
UPDATE word SET score = score * 1.5 WHERE id IN (SELECT b FROM pair);
SELECT substr(name, 2, 2) AS head, sum(score) FROM word GROUP BY head ORDER BY sum(score) DESC LIMIT 20;
DELETE FROM word WHERE length % 3 = 0;
SELECT json_group_array(json_object('n', name, 's', score)) FROM (SELECT * FROM word ORDER BY name LIMIT 20000);
