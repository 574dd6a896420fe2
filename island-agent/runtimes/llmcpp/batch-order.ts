/** Tokens of one sequence that wait for evaluation: one token for a decode, many for a prompt. */
interface WaitingTokens {
  readonly sequenceId: number;
  readonly count: number;
}

interface BatchShare {
  /** Index into the waiting list. */
  readonly index: number;
  readonly count: number;
}

/**
 * Fills a batch of `size` tokens, smallest first: decodes before prompts and short prompts before long ones. A long
 * prompt thus delays neither a running completion nor a short question. It does not starve, because there are few
 * sequences and each decode is one token. The result is sorted by sequence id, because llama.cpp splits a batch where
 * ids descend. If a batch has other sequences, a prompt is evaluated up to its last token, which goes into the next
 * batch. llama.cpp evaluates sequences of different lengths in several passes, and reorders their results on the first
 * read. node-llama-cpp reads them in several threads at once, so two completions could get each other's token (4 of
 * 2,800 runs on a loaded machine, 3.21.1). With one token per sequence that has a result, no reordering is necessary.
 */
export function fillBatch(waiting: readonly WaitingTokens[], size: number): BatchShare[] {
  const items = waiting.map(({ sequenceId, count }, index) => ({ sequenceId, count, index }));
  items.sort((a, b) => a.count - b.count || a.sequenceId - b.sequenceId);
  let left = size;
  const shares = items.flatMap((item) => {
    const isWholePrompt = item.count > 1 && item.count <= left;
    const count = isWholePrompt && items.length > 1 ? item.count - 1 : Math.min(item.count, left);
    left -= count;
    return count > 0 ? [{ ...item, count }] : [];
  });
  shares.sort((a, b) => a.sequenceId - b.sequenceId);
  return shares.map(({ index, count }) => ({ index, count }));
}
