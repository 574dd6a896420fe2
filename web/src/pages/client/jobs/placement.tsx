import type { Job } from "@atoll/client";
import { formatDuration, formatRate, formatWhole } from "../../../components/numbers.ts";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { Badge } from "../../../components/status.tsx";

type Shown = NonNullable<Job["placement"]>;
type Candidate = Shown["candidates"][number];

/** Characters of an Island's id that are shown. The title has all of them. */
const ID_CHARS = 8;
const TERMS: readonly { readonly label: string; readonly of: (candidate: Candidate) => number }[] = [
  { label: "Cost", of: ({ cost_ms }) => cost_ms },
  { label: "Wait", of: ({ wait_ms }) => wait_ms },
  { label: "Load", of: ({ load_ms }) => load_ms },
  { label: "Read", of: ({ read_ms }) => read_ms },
  { label: "Write", of: ({ write_ms }) => write_ms },
  { label: "Round trip", of: ({ rtt_ms }) => rtt_ms },
  { label: "Slows others", of: ({ slowdown_ms }) => slowdown_ms },
];

/** Shows an operator the Islands that were compared for a job, with the terms of their costs. */
export function Placement({ placement }: { readonly placement: Shown }) {
  const { reason, island_id: chosen, candidates, reserved_island_id: reserved } = placement;
  return (
    <section class="panel" aria-labelledby="placement-title">
      <h2 id="placement-title">Why this Island</h2>
      {reserved !== null && (
        <p class="muted">
          The job waits for a slot of the busy Island <span class="id">{reserved}</span>, which is reserved for it.
        </p>
      )}
      {reason !== null && (
        <>
          <p class="muted">
            {reason === "trial"
              ? "The Island got the job so that its speed can be measured. Expected costs at that time:"
              : "The Island's cost was the lowest, or close to it. Expected costs at that time:"}
          </p>
          <SimpleTable
            rows={candidates}
            label="Compared Islands"
            keyOf={({ island_id }) => island_id}
            columns={[
              {
                label: "Island",
                cell: ({ island_id: id }) => (
                  <>
                    <span class="id" title={id}>
                      {id.slice(0, ID_CHARS)}
                    </span>{" "}
                    {id === chosen && <Badge tone="good">chosen</Badge>}
                  </>
                ),
              },
              ...TERMS.map(({ label, of }) => ({
                label,
                isNumber: true,
                cell: (candidate: Candidate) => formatDuration(of(candidate)),
              })),
              { label: "Risk", isNumber: true, cell: ({ risk }) => `× ${formatRate(risk)}` },
              { label: "Cached tokens", isNumber: true, cell: ({ cached_tokens }) => formatWhole(cached_tokens) },
            ]}
          />
        </>
      )}
    </section>
  );
}
