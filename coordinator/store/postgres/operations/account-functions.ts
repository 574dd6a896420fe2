import { UNFINISHED } from "../../jobs/job-guards.ts";

/** What jobs change of their accounts: balances, entries and places. `mine`: the condition that a job is this coordinator's. */
export const accountFunctions = (mine: string): string => `
-- Adds postings to the balances and entries. A refusal has the balances of all parties, from which the caller learns why. The holder, one
-- of the parties, takes so many places for jobs; a negative number gives them back.
CREATE FUNCTION pg_temp.post(postings jsonb, subject text, at bigint, holder text, places int) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  total bigint := (SELECT sum((p->>'micro')::bigint) FROM jsonb_array_elements(postings) p);
  short jsonb;
  first bigint;
BEGIN
  IF total <> 0 THEN RAISE EXCEPTION 'The postings sum to % micro-credits, not to 0', total; END IF;
  SELECT jsonb_build_object('refused', 'postings', 'balances', jsonb_object_agg(party, b.micro::text)) INTO short
  FROM (SELECT p->>'party' AS party, sum((p->>'micro')::bigint) AS micro FROM jsonb_array_elements(postings) p GROUP BY 1) added
  LEFT JOIN balances b USING (party)
  HAVING bool_or(party <> 'network' AND (b.micro IS NULL OR b.micro + added.micro < 0));
  IF short IS NOT NULL THEN RETURN short; END IF;
  UPDATE balances SET micro = balances.micro + added.micro,
    job_places = job_places + CASE balances.party WHEN holder THEN places ELSE 0 END
  FROM (SELECT p->>'party' AS party, sum((p->>'micro')::bigint) AS micro FROM jsonb_array_elements(postings) p GROUP BY 1) added
  WHERE balances.party = added.party AND added.party <> 'network' AND (added.micro <> 0 OR added.party = holder AND places <> 0);
  INSERT INTO network_moves (micro)
  SELECT (p->>'micro')::bigint FROM jsonb_array_elements(postings) p WHERE p->>'party' = 'network' AND p->>'micro' <> '0';
  first := nextval('entries_id_seq');
  INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms)
  SELECT CASE row_number() OVER (ORDER BY n) WHEN 1 THEN first ELSE nextval('entries_id_seq') END,
    first, p->>'party', (p->>'micro')::bigint, p->>'kind', subject, at
  FROM jsonb_array_elements(postings) WITH ORDINALITY AS posting (p, n) WHERE p->>'micro' <> '0' ORDER BY n;
  RETURN NULL;
END $f$;

-- Refuses jobs of a key with a monthly limit that would pass it; null for others.
CREATE FUNCTION pg_temp.refuse_key(k jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  spent bigint;
BEGIN
  IF k->'monthly'->>'neededMicro' = '0' THEN RETURN NULL; END IF;
  spent := coalesce((SELECT micro FROM key_spending WHERE key_number = (k->>'number')::bigint AND month >= (k->'monthly'->>'month')::int), 0);
  IF spent + (k->'monthly'->>'neededMicro')::bigint <= (k->'monthly'->>'limitMicro')::bigint THEN RETURN NULL; END IF;
  RETURN jsonb_build_object('refused', 'key_credits', 'leftMicro', greatest((k->'monthly'->>'limitMicro')::bigint - spent, 0));
END $f$;

-- Counts jobs of a key with a monthly limit, and returns the month that has them. A clock that is behind counts in the month that another one has begun.
CREATE FUNCTION pg_temp.spend_by_key(k jsonb) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE
  counted int;
BEGIN
  INSERT INTO key_spending (key_number, month, micro)
  VALUES ((k->>'number')::bigint, (k->'monthly'->>'month')::int, (k->'monthly'->>'neededMicro')::bigint)
  ON CONFLICT (key_number) DO UPDATE SET month = greatest(key_spending.month, excluded.month),
    micro = CASE WHEN key_spending.month >= excluded.month THEN key_spending.micro ELSE 0 END + excluded.micro
  RETURNING month INTO counted;
  RETURN counted;
END $f$;

-- Gives places to the first of the jobs for which the account's limit leaves room. Returns those that have one, now or before.
CREATE FUNCTION pg_temp.take_places(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  holder text := 'client:' || (a->>'accountId');
  room bigint := (a->>'limit')::bigint - (SELECT job_places FROM balances WHERE party = holder);
  ids text[] := ARRAY(SELECT jsonb_array_elements_text(a->'jobIds'));
  taken int;
BEGIN
  IF room > 0 THEN
    WITH found AS MATERIALIZED (
      SELECT id FROM jobs WHERE id = ANY (ids) AND ${mine} AND state IN (${UNFINISHED}) AND NOT has_place
    )
    UPDATE jobs SET has_place = true
    WHERE id = ANY (ARRAY(SELECT id FROM found JOIN unnest(ids) WITH ORDINALITY AS asked (job_id, n) ON id = job_id
        ORDER BY n LIMIT room))
      AND ${mine} AND state IN (${UNFINISHED}) AND NOT has_place;
    GET DIAGNOSTICS taken = ROW_COUNT;
    IF taken > 0 THEN UPDATE balances SET job_places = job_places + taken WHERE party = holder; END IF;
  END IF;
  RETURN (WITH found AS MATERIALIZED (
      SELECT id FROM jobs WHERE id = ANY (ids) AND ${mine} AND state IN (${UNFINISHED}) AND has_place
    )
    SELECT coalesce(jsonb_agg(id ORDER BY n), '[]') FROM found JOIN unnest(ids) WITH ORDINALITY AS asked (job_id, n) ON id = job_id);
END $f$;
`;
