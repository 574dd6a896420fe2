/**
 * The result of an operation that was sent before, and whose answer was lost with the connection: what the guards refuse now was done then.
 * An end answers with the webhooks that it made due, if it is the one that is stored.
 */
export const REPEAT_FUNCTION = `
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
