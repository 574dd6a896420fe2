const PAGE = 100;
const ENDED = ["completed", "failed", "cancelled", "timeout"];

interface ListedJob {
  readonly id: string;
  readonly status: string;
}

/**
 * Returns the problems of an account that got `granted` credits. Problems are unfinished jobs, and a balance that
 * differs from the grant less the cost of its jobs.
 * @param charges credits of jobs whose costs are known. The costs of other jobs are requested.
 */
export async function accountProblems(
  url: string,
  key: string,
  granted: number,
  charges: ReadonlyMap<string, number> = new Map(),
): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    return (await response.json()) as T;
  };
  const chargeOf = async (jobId: string): Promise<number> => {
    const { data } = await read<{ data?: { usage: { credits_used: number | string } | null } }>(`/jobs/${jobId}`);
    return Number(data?.usage?.credits_used ?? 0);
  };
  let spent = 0;
  let unfinished = 0;
  for (let offset = 0; ; offset += PAGE) {
    const path = `/jobs?limit=${PAGE}&offset=${offset}`;
    const { data, meta } = await read<{ data: ListedJob[]; meta: { total: number } }>(path);
    for (const { id, status } of data) {
      spent += charges.get(id) ?? (await chargeOf(id));
      if (!ENDED.includes(status)) unfinished += 1;
    }
    if (offset + data.length >= meta.total) break;
  }
  const lines: string[] = [];
  if (unfinished > 0) lines.push(`${unfinished} jobs have no end`);
  const { credits } = (await read<{ data: { credits: number } }>("/account")).data;
  if (Math.abs(granted - spent - credits) > 1e-6)
    lines.push(`${granted} credits less ${spent} spent are not ${credits}`);
  return lines;
}
