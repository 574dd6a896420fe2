import type { Timer } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Store } from "../store/store.ts";
import type { Dispatcher } from "./dispatcher.ts";

const SAVE_EVERY_MS = 30_000;
/** Number of Islands of one commit. */
const PAGE = 200;

/** Stores the speeds that the scheduler learns, and returns them to it when an Island connects. */
export function openCurveKeeper(
  { clock, log }: Env,
  store: { readonly islands: Pick<Store["islands"], "curvesOf" | "saveCurves"> },
  scheduler: Pick<Scheduler, "takeChangedCurves">,
  islands: Pick<IslandRegistry, "subscribe">,
  { schedule }: Pick<Dispatcher, "schedule">,
) {
  let timer: Timer = clock.schedule(SAVE_EVERY_MS, tick);
  let saving: Promise<void> = Promise.resolve();
  let isClosed = false;

  islands.subscribe((event) => {
    if (event.type === "island_up") void restore(event.island.id);
  });

  async function restore(islandId: string): Promise<void> {
    const curves = await store.islands.curvesOf(islandId).catch(skip("read"));
    if (curves !== undefined && curves.length > 0 && !isClosed) schedule({ kind: "curves_read", islandId, curves });
  }

  async function save(): Promise<void> {
    const changed = scheduler.takeChangedCurves().map(({ islandId, curves }) => ({ hostId: islandId, curves }));
    for (let from = 0; from < changed.length; from += PAGE) {
      // oxlint-disable-next-line no-await-in-loop -- One page at a time, so that other writes are not delayed.
      await store.islands.saveCurves(changed.slice(from, from + PAGE)).catch(skip("stored"));
    }
  }

  function tick(): void {
    saving = save();
    timer = clock.schedule(SAVE_EVERY_MS, tick);
  }

  /** Returns a handler that logs a storage fault: the speeds are then learnt again. */
  function skip(what: "read" | "stored"): (error: unknown) => undefined {
    return (error) => {
      if (!(error instanceof ServiceError)) throw error;
      log.warn({ error: error.message }, `Speeds of Islands could not be ${what}`);
    };
  }

  return {
    /** Stores what was learnt since the last time. */
    async close(): Promise<void> {
      isClosed = true;
      timer.cancel();
      await saving;
      await save();
    },
  };
}
