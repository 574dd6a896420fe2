import type { Island } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { Link } from "../../app/router.tsx";
import { Meter } from "../../components/meter.tsx";
import { formatCredits, formatMegabytes, formatShare, formatWhole } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { Tile } from "../../components/tile.tsx";
import { Ago } from "../../components/time.tsx";

const PAGE_SIZE = 100;

/** Reads the first `most` Islands and the number of all Islands. */
async function readIslands(most: number, signal: AbortSignal): Promise<{ data: readonly Island[]; total: number }> {
  const pages = api().islands.list({ pageSize: PAGE_SIZE }, { signal });
  const first = await pages.page();
  const data = [...first.data];
  while (data.length < Math.min(most, first.meta.total)) {
    // oxlint-disable-next-line no-await-in-loop -- Each page begins where the last one ended.
    const { data: more } = await pages.page(data.length);
    if (more.length === 0) break;
    data.push(...more);
  }
  return { data, total: first.meta.total };
}

export function IslandsPage() {
  const [most, setMost] = useState(PAGE_SIZE);
  const islands = useResource((signal) => readIslands(most, signal), []);
  useEffect(() => {
    if (most > PAGE_SIZE) islands.reload();
  }, [most]);
  useLive("island", (island) => {
    const page = islands.value;
    if (page === undefined) return;
    const index = page.data.findIndex(({ id }) => id === island.id);
    if (index < 0) islands.reload();
    else islands.set({ ...page, data: page.data.with(index, { ...(page.data[index] as Island), ...island }) });
  });
  useLive("islandRemoved", islands.reload);
  return (
    <>
      <PageHead title="My Islands" note="Your machines that run jobs for the network.">
        <Link to="/islands/add" class="button primary">
          Add an Island
        </Link>
      </PageHead>
      <Loaded of={islands} what="your Islands">
        {({ data, total }) =>
          data.length === 0 ? (
            <EmptyState title="No Islands yet">
              <p>
                A machine with a free CPU or GPU can earn credits. <Link to="/islands/add">Add one</Link> in about a
                minute.
              </p>
            </EmptyState>
          ) : (
            <>
              <Sums islands={data} total={total} />
              <ul class="cards wide">
                {data.map((island) => (
                  <IslandCard key={island.id} island={island} />
                ))}
              </ul>
              {total > data.length && (
                <div>
                  <button
                    type="button"
                    class="button"
                    disabled={islands.isLoading}
                    onClick={() => setMost(data.length + PAGE_SIZE)}
                  >
                    Show more of {formatWhole(total)}
                  </button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** Totals of the shown Islands. Connected ones are shown first. */
function Sums({ islands, total }: { readonly islands: readonly Island[]; readonly total: number }) {
  const sum = (read: (island: Island) => number): number => islands.reduce((total, island) => total + read(island), 0);
  return (
    <dl class="tiles">
      <Tile label="Online" value={`${islands.filter(({ status }) => status !== "offline").length} of ${total}`} />
      <Tile
        label="Slots busy"
        value={`${sum(({ load }) => load?.slots_busy ?? 0)} of ${sum(({ load }) => load?.slots ?? 0)}`}
      />
      <Tile label="Credits earned today" value={formatCredits(sum(({ earned }) => earned.today))} />
      <Tile label="Credits earned in 30 days" value={formatCredits(sum(({ earned }) => earned.days_30))} />
    </dl>
  );
}

function IslandCard({ island }: { readonly island: Island }) {
  const { load, hardware, earned, uptime } = island;
  const gpu = hardware.gpus[0];
  return (
    <li class="card island">
      <div class="card-head">
        <h2 class="ellipsis">
          <Link to={`/islands/${island.id}`}>{island.name}</Link>
        </h2>
        <IslandStatusBadge status={island.status} />
      </div>
      <p class="muted ellipsis">
        {gpu?.name ?? hardware.cpu_model ?? `${hardware.platform} ${hardware.arch}`}, {formatMegabytes(hardware.ram_mb)}
      </p>
      {load === null ? (
        <p class="muted">
          Last seen <Ago at={island.last_seen_at} />
        </p>
      ) : (
        <div class="meters">
          <Meter
            label="Slots"
            share={load.slots === 0 ? 0 : load.slots_busy / load.slots}
            text={`${load.slots_busy} of ${load.slots}`}
          />
          {load.cpu !== null && (
            <Meter
              label="CPU"
              share={load.cpu}
              text={`${formatShare(load.cpu)}${load.temperature_c === null ? "" : `, ${formatWhole(load.temperature_c)} °C`}`}
            />
          )}
        </div>
      )}
      <p class="ellipsis muted">{island.loaded.length === 0 ? "No model in memory" : island.loaded.join(", ")}</p>
      <p class="card-foot">
        <span>
          <span class="num">{formatCredits(earned.today)}</span> <span class="muted">credits today</span>
        </span>
        <span>
          <span class="num">{formatCredits(earned.days_7)}</span> <span class="muted">in 7 days</span>
        </span>
        <span>
          <span class="num">{formatShare(uptime.days_7)}</span> <span class="muted">connected</span>
        </span>
      </p>
    </li>
  );
}
