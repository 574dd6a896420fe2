import { type JobEvent, nextState } from "../../../../shared/job-state.ts";
import { auditTable, NEW_AUDIT_COLUMNS } from "../../audits.ts";
import { guardOf, UNFINISHED } from "../../jobs/job-guards.ts";
import { IDEMPOTENCY_WINDOW_MS } from "../../jobs/idempotency.ts";
import { batchTable, jobTable, SUBMITTED_BATCH_COLUMNS, SUBMITTED_COLUMNS } from "../../jobs/job-tables.ts";
import { columnType } from "../../steps/schema.ts";
import type { Table } from "../../steps/table.ts";
import { SUBMITTED_WEBHOOK_COLUMNS, webhookTable } from "../../jobs/webhooks.ts";

/**
 * Returns SQL functions that change balances, entries and quota slots. `mine`: condition for jobs of this coordinator.
 */
const accountFunctions = (mine: string): string => `
-- Adds postings to the balances and entries. A refusal returns the balances of all parties, from which the caller derives the reason.
-- holder: the party that takes the quota slots for jobs. A negative number of slots frees them.
CREATE FUNCTION pg_temp.post(postings jsonb, subject text, at bigint, holder text, slots int) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  total bigint := (SELECT sum((p->>'micro')::bigint) FROM jsonb_array_elements(postings) p);
  short jsonb;
  first bigint;
BEGIN
  IF total <> 0 THEN RAISE EXCEPTION 'The postings must sum to 0 micro-credits, got %', total; END IF;
  SELECT jsonb_build_object('refused', 'postings', 'balances', jsonb_object_agg(party, b.micro::text)) INTO short
  FROM (SELECT p->>'party' AS party, sum((p->>'micro')::bigint) AS micro FROM jsonb_array_elements(postings) p GROUP BY 1) added
  LEFT JOIN balances b USING (party)
  HAVING bool_or(party <> 'network' AND (b.micro IS NULL OR b.micro + added.micro < 0));
  IF short IS NOT NULL THEN RETURN short; END IF;
  UPDATE balances SET micro = balances.micro + added.micro,
    job_places = job_places + CASE balances.party WHEN holder THEN slots ELSE 0 END
  FROM (SELECT p->>'party' AS party, sum((p->>'micro')::bigint) AS micro FROM jsonb_array_elements(postings) p GROUP BY 1) added
  WHERE balances.party = added.party AND added.party <> 'network' AND (added.micro <> 0 OR added.party = holder AND slots <> 0);
  INSERT INTO network_moves (micro)
  SELECT (p->>'micro')::bigint FROM jsonb_array_elements(postings) p WHERE p->>'party' = 'network' AND p->>'micro' <> '0';
  first := nextval('entries_id_seq');
  INSERT INTO entries (id, txn, party, micro, kind, job_id, at_ms)
  SELECT CASE row_number() OVER (ORDER BY n) WHEN 1 THEN first ELSE nextval('entries_id_seq') END,
    first, p->>'party', (p->>'micro')::bigint, p->>'kind', subject, at
  FROM jsonb_array_elements(postings) WITH ORDINALITY AS posting (p, n) WHERE p->>'micro' <> '0' ORDER BY n;
  RETURN NULL;
END $f$;

-- Refuses jobs that would exceed the monthly limit of their key; returns null for others.
CREATE FUNCTION pg_temp.refuse_key(k jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  spent bigint;
BEGIN
  IF k->'monthly'->>'neededMicro' = '0' THEN RETURN NULL; END IF;
  spent := coalesce((SELECT micro FROM key_spending WHERE key_number = (k->>'number')::bigint AND month >= (k->'monthly'->>'month')::int), 0);
  IF spent + (k->'monthly'->>'neededMicro')::bigint <= (k->'monthly'->>'limitMicro')::bigint THEN RETURN NULL; END IF;
  RETURN jsonb_build_object('refused', 'key_credits', 'leftMicro', greatest((k->'monthly'->>'limitMicro')::bigint - spent, 0));
END $f$;

-- Counts jobs of a key with a monthly limit and returns the month that counts them. A coordinator whose clock is behind counts them in the newer month.
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

-- Assigns quota slots to the jobs in order, as far as the account's limit allows. Returns the jobs that have a slot, now or before.
CREATE FUNCTION pg_temp.take_slots(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  holder text := 'client:' || (a->>'accountId');
  free bigint := (a->>'limit')::bigint - (SELECT job_places FROM balances WHERE party = holder);
  ids text[] := ARRAY(SELECT jsonb_array_elements_text(a->'jobIds'));
  taken int;
BEGIN
  IF free > 0 THEN
    WITH found AS MATERIALIZED (
      SELECT id FROM jobs WHERE id = ANY (ids) AND ${mine} AND state IN (${UNFINISHED}) AND NOT has_place
    )
    UPDATE jobs SET has_place = true
    WHERE id = ANY (ARRAY(SELECT id FROM found JOIN unnest(ids) WITH ORDINALITY AS asked (job_id, n) ON id = job_id
        ORDER BY n LIMIT free))
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

const END_EVENTS = ["complete", "fail", "cancel", "expire"] as const;

function endStates(): string {
  return END_EVENTS.map((event) => `WHEN '${event}' THEN '${guardOf(event).to}'`).join(" ");
}

/** Returns a CASE of guards by end event. `first`: an event that the same write stores before the end. */
function endGuards(first?: JobEvent): string {
  const guard = (event: JobEvent) => (first === undefined ? guardOf(event) : guardOf(first, event));
  return END_EVENTS.map((event) => `WHEN '${event}' THEN state IN (${guard(event).from})`).join(" ");
}

/** Returns an INSERT of a row: `members` from the JSON object `from`, encoded for the table, and `others` as SQL. */
function insertSql(
  table: Table,
  from: string,
  members: readonly string[],
  others: Readonly<Record<string, string>>,
): string {
  const columns = [...members, ...Object.keys(others)].map((member) => table.columnName(member));
  const typeOf = (member: string): string => columnType(table.definition[member]?.kind ?? "text", "postgres");
  const values = members.map((member) => `(${from}->>'${member}')::${typeOf(member)}`);
  return `INSERT INTO ${table.name} (${columns.join(", ")}) SELECT ${[...values, ...Object.values(others)].join(", ")}`;
}

/**
 * Function for the result of an operation that was sent twice because the reply was lost. If a guard refuses it the
 * second time, it was applied the first time. An end returns the webhooks that it made due, if it is the stored end.
 */
const REPEAT_FUNCTION = `
CREATE FUNCTION pg_temp.repeated(op jsonb, result jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
BEGIN
  IF result->>'refused' IS DISTINCT FROM 'transition' THEN RETURN result; END IF;
  IF op->>0 <> 'endJob' THEN RETURN NULL; END IF;
  RETURN coalesce((
    SELECT to_jsonb(array_remove(ARRAY[jobs.webhook_id,
      CASE WHEN batches.completed_at_ms = jobs.completed_at_ms THEN batches.webhook_id END], NULL))
    FROM jobs LEFT JOIN batches ON batches.id = jobs.batch_id
    WHERE jobs.id = op->1->>'jobId' AND jobs.completed_at_ms = (op->1->>'atMs')::bigint), result);
END $f$;
`;

/**
 * Returns the SQL functions for the writes of jobs. `a`: arguments as in `operations.ts`. A function returns null, a
 * value, or `{"refused": …}` before it has written anything.
 */
export const jobFunctions = (ownerId: string): string => {
  if (!/^[\w-]+$/.test(ownerId)) throw new Error(`Invalid coordinator id "${ownerId}"`);
  const mine = `owner_id = '${ownerId}'`;
  return `
${accountFunctions(mine)}
-- Returns what the first request with an Idempotency-Key created.
CREATE FUNCTION pg_temp.find_repeat(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  known record;
BEGIN
  IF a->'idempotency'->>'key' IS NULL THEN RETURN NULL; END IF;
  SELECT body_hash, job_id, batch_id, created_at_ms INTO known FROM idempotency_keys
  WHERE account_id = a->>'accountId' AND key = a->'idempotency'->>'key';
  IF NOT FOUND OR (a->>'createdAtMs')::bigint - known.created_at_ms >= ${IDEMPOTENCY_WINDOW_MS} THEN RETURN NULL; END IF;
  IF known.body_hash <> a->'idempotency'->>'bodyHash' THEN RETURN '{"refused": "idempotency_conflict"}'; END IF;
  RETURN jsonb_build_object('jobId', known.job_id, 'batchId', known.batch_id);
END $f$;

-- Inserts jobs in order. slots: the number of jobs, from the first, that have a quota slot. k: the API key of the submission.
CREATE FUNCTION pg_temp.insert_jobs(added jsonb, slots int, batch text, webhook text, conversation text, k jsonb) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE
  spent_in int := CASE WHEN k->'monthly'->>'month' IS NOT NULL THEN pg_temp.spend_by_key(k) END;
BEGIN
  ${insertSql(jobTable, "j", SUBMITTED_COLUMNS, {
    ownerId: `'${ownerId}'`,
    state: `CASE WHEN j->>'assignedTo' IS NULL THEN 'pending' ELSE '${nextState("pending", "assign")}' END`,
    attempt: "CASE WHEN j->>'assignedTo' IS NULL THEN 0 ELSE 1 END",
    islandId: "j->>'assignedTo'",
    batchId: "batch",
    holdsQuota: "n <= slots",
    webhookId: "webhook",
    conversationId: "conversation",
    keyNumber: "(k->>'number')::bigint",
    keyMonth: "spent_in",
  })}
  FROM jsonb_array_elements(added) WITH ORDINALITY AS job (j, n);
  INSERT INTO job_inputs (job_id, input) SELECT j->>'id', j->>'input' FROM jsonb_array_elements(added) AS job (j);
END $f$;

-- Stores the part of a submission that jobs and batches share. slots: quota slots of the jobs that follow. Returns null if they may be stored.
CREATE FUNCTION pg_temp.begin_submission(a jsonb, subject_kind text, first_job text, slots int) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  made jsonb := pg_temp.find_repeat(a);
  holder text := 'client:' || (a->>'accountId');
  w jsonb := a->'webhook';
BEGIN
  IF made IS NULL AND (SELECT job_places + slots > (a->>'maxJobs')::bigint FROM balances WHERE party = holder) THEN
    RETURN '{"refused": "too_many_jobs"}';
  END IF;
  IF made IS NULL AND a->'apiKey'->'monthly'->>'month' IS NOT NULL THEN made := pg_temp.refuse_key(a->'apiKey'); END IF;
  IF made IS NULL THEN made := pg_temp.post(a->'postings', a->>'id', (a->>'createdAtMs')::bigint, holder, slots); END IF;
  IF made IS NOT NULL THEN RETURN made; END IF;
  IF w->>'id' IS NOT NULL THEN
    ${insertSql(webhookTable, "w", SUBMITTED_WEBHOOK_COLUMNS, {
      accountId: "a->>'accountId'",
      subjectKind: "subject_kind",
      subjectId: "a->>'id'",
    })};
  END IF;
  IF a->'idempotency'->>'key' IS NOT NULL THEN
    INSERT INTO idempotency_keys (account_id, key, body_hash, job_id, batch_id, created_at_ms)
    VALUES (a->>'accountId', a->'idempotency'->>'key', a->'idempotency'->>'bodyHash', first_job,
      CASE subject_kind WHEN 'batch' THEN a->>'id' END, (a->>'createdAtMs')::bigint)
    ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
      batch_id = excluded.batch_id, created_at_ms = excluded.created_at_ms;
  END IF;
  RETURN NULL;
END $f$;

CREATE FUNCTION pg_temp.submit_job(a jsonb, conversation text) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  made jsonb := pg_temp.begin_submission(a, 'job', a->>'id', 1);
BEGIN
  IF made IS NULL THEN PERFORM pg_temp.insert_jobs(jsonb_build_array(a), 1, NULL, a->'webhook'->>'id', conversation, a->'apiKey'); END IF;
  RETURN made;
END $f$;

-- The first jobs that fit get a quota slot at once. Returns their number.
CREATE FUNCTION pg_temp.submit_batch(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  free bigint := coalesce((a->>'slotLimit')::bigint - (SELECT job_places FROM balances WHERE party = 'client:' || (a->>'accountId')), 0);
  admitted int := least(greatest(free, 0), jsonb_array_length(a->'jobs'));
  made jsonb := pg_temp.begin_submission(a, 'batch', a->'jobs'->0->>'id', admitted);
BEGIN
  IF made IS NOT NULL THEN RETURN made; END IF;
  ${insertSql(batchTable, "a", SUBMITTED_BATCH_COLUMNS, {
    unfinished: "jsonb_array_length(a->'jobs')",
    webhookId: "a->'webhook'->>'id'",
  })};
  PERFORM pg_temp.insert_jobs(a->'jobs', admitted, a->>'id', NULL, NULL, a->'apiKey');
  RETURN to_jsonb(admitted);
END $f$;

CREATE FUNCTION pg_temp.ask_question(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  q jsonb := a->'question';
  j jsonb := a->'job';
  last record;
  made jsonb;
BEGIN
  PERFORM 1 FROM conversations WHERE id = q->>'conversationId' AND account_id = j->>'accountId' FOR UPDATE;
  IF NOT FOUND THEN RETURN '{"refused": "no_conversation"}'; END IF;
  SELECT id, state INTO last FROM messages WHERE conversation_id = q->>'conversationId' ORDER BY ord DESC LIMIT 1;
  IF last.state = 'in_progress' OR last.id IS DISTINCT FROM q->>'afterMessageId' THEN
    RETURN '{"refused": "conversation_busy"}';
  END IF;
  made := pg_temp.submit_job(j, q->>'conversationId');
  IF made IS NOT NULL THEN RETURN made; END IF;
  INSERT INTO messages (id, conversation_id, role, content, state, job_id, created_at_ms, completed_at_ms, keeper_id) VALUES
    (q->>'userMessageId', q->>'conversationId', 'user', q->>'content', 'completed', NULL,
      (j->>'createdAtMs')::bigint, (j->>'createdAtMs')::bigint, ''),
    (q->>'answerId', q->>'conversationId', 'assistant', '""', 'in_progress', j->>'id', (j->>'createdAtMs')::bigint, NULL,
      '${ownerId}');
  UPDATE conversations SET updated_at_ms = (j->>'createdAtMs')::bigint WHERE id = q->>'conversationId';
  RETURN NULL;
END $f$;

CREATE FUNCTION pg_temp.ask_again(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  conversation text;
  made jsonb;
BEGIN
  SELECT conversation_id INTO conversation FROM messages
  WHERE id = a->>'answerId' AND job_id = a->>'endedJobId' AND state = 'in_progress' FOR UPDATE;
  IF NOT FOUND THEN RETURN '{"refused": "no_answer"}'; END IF;
  made := pg_temp.submit_job(a->'job', conversation);
  IF made IS NULL THEN UPDATE messages SET job_id = a->'job'->>'id' WHERE id = a->>'answerId'; END IF;
  RETURN made;
END $f$;

CREATE FUNCTION pg_temp.explain_guard(job text, event text) RETURNS jsonb LANGUAGE sql AS $f$
  SELECT coalesce((SELECT CASE WHEN ${mine}
    THEN jsonb_build_object('refused', 'transition', 'from', state, 'event', event)
    ELSE jsonb_build_object('refused', 'not_owner', 'jobId', id, 'ownerId', owner_id) END FROM jobs WHERE id = job),
    '{"refused": "no_job"}');
$f$;

CREATE FUNCTION pg_temp.move_job(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
BEGIN
  CASE a->>'event'
    WHEN 'assign' THEN
      UPDATE jobs SET state = '${guardOf("assign").to}', attempt = (a->>'attempt')::int, island_id = a->>'islandId'
      WHERE id = a->>'jobId' AND state IN (${guardOf("assign").from}) AND attempt < (a->>'attempt')::int AND ${mine};
    WHEN 'start' THEN
      UPDATE jobs SET state = '${guardOf("start").to}', started_at_ms = (a->>'atMs')::bigint
      WHERE id = a->>'jobId' AND state IN (${guardOf("start").from}) AND attempt = (a->>'attempt')::int AND ${mine};
    WHEN 'lose' THEN
      UPDATE jobs SET state = '${guardOf("lose").to}', lost_island_id = island_id, island_id = NULL, started_at_ms = NULL,
        refusals = coalesce((a->>'refusals')::int, refusals),
        wait_deadline_ms = greatest(wait_deadline_ms, (a->>'waitDeadlineMs')::bigint)
      WHERE id = a->>'jobId' AND state IN (${guardOf("lose").from}) AND attempt = (a->>'attempt')::int AND ${mine};
    WHEN 'regain' THEN
      UPDATE jobs SET state = '${guardOf("regain").to}', island_id = a->>'islandId'
      WHERE id = a->>'jobId' AND state IN (${guardOf("regain").from}) AND attempt = (a->>'attempt')::int AND ${mine};
  END CASE;
  IF NOT FOUND THEN RETURN pg_temp.explain_guard(a->>'jobId', a->>'event'); END IF;
  RETURN NULL;
END $f$;

CREATE FUNCTION pg_temp.insert_pieces(job text, pieces jsonb) RETURNS void LANGUAGE sql AS $f$
  INSERT INTO large_pieces (job_id, name, piece, text)
  SELECT job, p->>'name', (p->>'piece')::int, p->>'text' FROM jsonb_array_elements(pieces) p;
$f$;

CREATE FUNCTION pg_temp.append_feed(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM 1 FROM jobs WHERE id = a->>'jobId' AND ${mine} AND completed_at_ms IS NULL FOR SHARE;
  IF NOT FOUND THEN RETURN pg_temp.explain_guard(a->>'jobId', 'append'); END IF;
  INSERT INTO feed_chunks (job_id, attempt, seq, items, text)
  VALUES (a->>'jobId', (a->>'attempt')::int, (a->>'seq')::bigint, a->>'items', a->>'text')
  ON CONFLICT (job_id, attempt, seq) DO NOTHING;
  IF FOUND THEN PERFORM pg_temp.insert_pieces(a->>'jobId', a->'pieces'); END IF;
  RETURN NULL;
END $f$;

-- Replaces the chunks of an ended job's feed and its last chunk by one row: the joined layouts, with the attempt where it changes.
CREATE FUNCTION pg_temp.fold_feed(job text, last jsonb, is_output boolean) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE
  folded record;
BEGIN
  WITH gone AS (DELETE FROM feed_chunks WHERE job_id = job RETURNING ord, attempt, items, text),
  parts AS (
    SELECT ord, attempt, items, text FROM gone
    UNION ALL SELECT 9223372036854775807, (last->>'attempt')::int, last->>'items', last->>'text' WHERE last->>'items' IS NOT NULL
  ),
  entries AS (
    SELECT ord, text, nullif(concat_ws(',',
      CASE WHEN attempt <> lag(attempt, 1, 0) OVER (ORDER BY ord) THEN '{"attempt":' || attempt || '}' END,
      nullif(substr(items, 2, length(items) - 2), '')), '') AS layout
    FROM parts
  )
  SELECT count(*) AS chunks, coalesce(string_agg(layout, ',' ORDER BY ord), '') AS layout,
    coalesce(string_agg(text, '' ORDER BY ord), '') AS text INTO folded FROM entries;
  IF folded.chunks = 0 AND NOT is_output THEN RETURN; END IF;
  INSERT INTO job_feeds (job_id, layout, text)
  VALUES (job, '[' || folded.layout || ']', CASE WHEN is_output THEN folded.text ELSE nullif(folded.text, '') END);
END $f$;

-- Completes the batch of an ended job if it was the last one, and makes webhooks due. Returns the ids of the webhooks.
CREATE FUNCTION pg_temp.follow_up(batch text, webhook text, at bigint) RETURNS text[] LANGUAGE plpgsql AS $f$
DECLARE
  due text[] := array_remove(ARRAY[webhook], NULL);
  b record;
BEGIN
  IF batch IS NOT NULL THEN
    UPDATE batches SET unfinished = unfinished - 1, completed_at_ms = CASE unfinished WHEN 1 THEN at END
    WHERE id = batch RETURNING completed_at_ms, webhook_id INTO b;
    IF b.completed_at_ms IS NOT NULL AND b.webhook_id IS NOT NULL THEN due := due || b.webhook_id; END IF;
  END IF;
  IF due <> '{}' THEN
    UPDATE webhooks SET state = 'pending', ended_at_ms = at, due_at_ms = at, sender_id = '${ownerId}'
    WHERE id = ANY (due) AND state = 'waiting';
  END IF;
  RETURN due;
END $f$;

CREATE FUNCTION pg_temp.end_job(a jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  at bigint := (a->>'atMs')::bigint;
  links record;
  refusal jsonb;
BEGIN
  -- A start that was not stored yet is stored with the end.
  UPDATE jobs SET state = CASE a->>'event' ${endStates()} END,
    started_at_ms = coalesce((a->>'startedAtMs')::bigint, started_at_ms), completed_at_ms = at, charged_micro = (a->>'chargeMicro')::bigint,
    prompt_tokens = (a->'usage'->>'promptTokens')::bigint, completion_tokens = (a->'usage'->>'completionTokens')::bigint,
    finish_reason = a->>'finishReason', timings = a->>'timings', error = a->>'error'
  WHERE id = a->>'jobId' AND ${mine} AND attempt = (a->>'attempt')::int AND CASE WHEN a->>'startedAtMs' IS NULL THEN CASE a->>'event' ${endGuards()} END
    ELSE CASE a->>'event' ${endGuards("start")} END END
  RETURNING batch_id, webhook_id, account_id, has_place, key_number, key_month, price_micro - charged_micro AS unspent INTO links;
  IF NOT FOUND THEN
    RETURN pg_temp.explain_guard(a->>'jobId', CASE WHEN a->>'startedAtMs' IS NULL THEN a->>'event' ELSE 'start' END);
  END IF;
  IF a->>'output' IS NOT NULL THEN
    INSERT INTO job_outputs (job_id, output, large_chars) VALUES (a->>'jobId', a->>'output', (a->>'largeChars')::bigint);
  END IF;
  PERFORM pg_temp.insert_pieces(a->>'jobId', a->'pieces');
  PERFORM pg_temp.fold_feed(a->>'jobId', a->'lastChunk', a->>'event' = 'complete' AND a->>'output' IS NULL);
  refusal := pg_temp.post(a->'postings', a->>'jobId', at, 'client:' || links.account_id, CASE WHEN links.has_place THEN -1 ELSE 0 END);
  -- Raises an error, which rolls back what was written.
  IF refusal IS NOT NULL THEN RAISE EXCEPTION 'The ledger refuses postings: %', refusal; END IF;
  IF a->'audit'->>'verdict' IS NOT NULL THEN
    ${insertSql(auditTable, "(a->'audit')", NEW_AUDIT_COLUMNS, {
      jobId: "a->>'jobId'",
      endedAtMs: "at",
      auditorId: `'${ownerId}'`,
    })};
  END IF;
  IF links.key_month IS NOT NULL AND links.unspent > 0 THEN
    UPDATE key_spending SET micro = greatest(0, micro - links.unspent) WHERE key_number = links.key_number AND month = links.key_month;
  END IF;
  RETURN to_jsonb(pg_temp.follow_up(links.batch_id, links.webhook_id, at));
END $f$;

${REPEAT_FUNCTION}
-- Runs all operations in order, in one commit. Locks the balances first and sorted, so that two coordinators cannot deadlock.
CREATE FUNCTION pg_temp.run(ops jsonb, parties text[]) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
  op jsonb;
  result jsonb;
  results jsonb[] := '{}';
BEGIN
  PERFORM 1 FROM balances WHERE party = ANY (parties) ORDER BY party FOR UPDATE;
  FOR op IN SELECT o FROM jsonb_array_elements(ops) WITH ORDINALITY AS operation (o, n) ORDER BY n LOOP
    CASE op->>0
      WHEN 'submitJob' THEN result := pg_temp.submit_job(op->1, NULL);
      WHEN 'submitBatch' THEN result := pg_temp.submit_batch(op->1);
      WHEN 'askQuestion' THEN result := pg_temp.ask_question(op->1);
      WHEN 'askAgain' THEN result := pg_temp.ask_again(op->1);
      WHEN 'findRepeat' THEN result := pg_temp.find_repeat(op->1);
      WHEN 'takeSlots' THEN result := pg_temp.take_slots(op->1);
      WHEN 'moveJob' THEN result := pg_temp.move_job(op->1);
      WHEN 'appendFeed' THEN result := pg_temp.append_feed(op->1);
      WHEN 'endJob' THEN result := pg_temp.end_job(op->1);
    END CASE;
    IF op->>2 = 'true' THEN result := pg_temp.repeated(op, result); END IF;
    results := results || coalesce(result, 'null');
  END LOOP;
  RETURN to_jsonb(results);
END $f$;
`;
};
