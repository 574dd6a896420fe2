import type { IslandDetail } from "@atoll/client";
import { Link } from "../../app/router.tsx";
import { formatCredits, formatWhole } from "../../components/numbers.ts";
import { SimpleTable } from "../../components/simple-table.tsx";
import { StandingBadge } from "../../components/status.tsx";

/** What audits found out about the owner's Islands, by Cargo. Otherwise empty. */
export function Standings({ standings }: Pick<IslandDetail, "standings">) {
  if (standings.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="standings-title">
      <h2 id="standings-title">Audits</h2>
      <SimpleTable
        rows={standings}
        label="Audits by Cargo"
        keyOf={({ cargo }) => cargo}
        columns={[
          { label: "Cargo", cell: ({ cargo }) => <Link to={`/catalog/${encodeURIComponent(cargo)}`}>{cargo}</Link> },
          { label: "State", cell: ({ state, reason }) => <State state={state} reason={reason} /> },
          {
            label: "Consistent",
            isNumber: true,
            cell: ({ state, streak, proven_after: needed, audits }) =>
              state === "new" ? `${formatWhole(streak)} of ${formatWhole(needed)}` : formatWhole(audits.consistent),
          },
          {
            label: "Inconsistent",
            isNumber: true,
            isExtra: true,
            cell: ({ audits }) => formatWhole(audits.inconsistent),
          },
          { label: "Unclear", isNumber: true, isExtra: true, cell: ({ audits }) => formatWhole(audits.unclear) },
          { label: "Held credits", isNumber: true, cell: ({ held_credits: held }) => formatCredits(held) },
        ]}
      />
      <p class="hint">
        Islands of other owners read some of the answers. Earnings are held until enough audits in a row are consistent.
      </p>
    </section>
  );
}

function State({ state, reason }: Pick<IslandDetail["standings"][number], "state" | "reason">) {
  return (
    <>
      <StandingBadge state={state} />
      {reason !== null && <p class="muted">{reason}</p>}
    </>
  );
}
