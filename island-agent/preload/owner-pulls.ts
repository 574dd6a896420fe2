import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import { CliError } from "../../shared/errors.ts";
import type { IslandState } from "../../shared/protocol/from-island.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";

/** A Cargo that the owner requested, and its state. */
export interface PullStatus {
  readonly slug: string;
  readonly state: "requested" | "downloading" | "on disk" | "failed";
  /** Progress of 0 to 1; null while the size is unknown. */
  readonly fraction: number | null;
  /** Progress of the download; null outside a download. Absent in agents of earlier versions. */
  readonly download?: IslandState["downloads"][number] | null;
  /** Reason of a failure. */
  readonly detail: string;
}

interface Pull {
  state: PullStatus["state"];
  detail: string;
  timeout: Timer | null;
}

/** Maximum wait for a Cargo, which the coordinator sends immediately if it knows it. */
const MAX_OFFER_WAIT_MS = 10_000;
/** Maximum number of pulls kept; finished ones are dropped first. */
const MAX_PULLS = 100;

/**
 * Opens the downloads that the owner starts with `island models pull`.
 * @param want Requests Cargos from the coordinator, which arrive at `receive`; false without a session.
 * @param onChange Called when the state in reports has changed.
 */
export function openPulls(
  clock: Clock,
  files: Pick<CargoFiles, "pull" | "downloads">,
  want: (slugs: readonly string[]) => boolean,
  onChange: () => void,
) {
  const pulls = new Map<string, Pull>();
  /** Downloads in progress; they never reject. */
  const ongoing = new Set<Promise<void>>();

  /**
   * Requests the Cargo from the coordinator, unless it is already being pulled. @throws {CliError} without a session,
   * or when too many are being pulled.
   */
  function begin(slug: string): void {
    const known = pulls.get(slug);
    if (known !== undefined && !hasEnded(known)) return;
    pulls.delete(slug);
    forgetOldest();
    if (!want([slug])) throw new CliError("The agent is not connected to its coordinator. Try again later");
    const pull: Pull = { state: "requested", detail: "", timeout: null };
    pull.timeout = clock.schedule(MAX_OFFER_WAIT_MS, () => {
      pull.state = "failed";
      pull.detail = `the coordinator did not send ${slug}. Check the name, and that the Cargo is approved`;
    });
    pulls.set(slug, pull);
  }

  /** Accepts a Cargo from the coordinator; returns false when no pull waits for it. */
  function receive(cargo: CargoManifest, signal: AbortSignal): boolean {
    const pull = pulls.get(cargo.slug);
    if (pull?.state !== "requested") return false;
    pull.timeout?.cancel();
    pull.state = "downloading";
    const fetching = download(pull, cargo, signal).finally(() => ongoing.delete(fetching));
    ongoing.add(fetching);
    return true;
  }

  function status(): PullStatus[] {
    const downloads = files.downloads();
    return [...pulls].map(([slug, { state, detail }]) => {
      const download = downloads.find((each) => each.slug === slug);
      const fraction = state === "on disk" ? 1 : (download?.fraction ?? null);
      return { slug, state, detail, fraction, download: download ?? null };
    });
  }

  /** Waits for the downloads. Abort the signals passed to `receive` to end them. */
  async function close(): Promise<void> {
    for (const { timeout } of pulls.values()) timeout?.cancel();
    await Promise.all(ongoing);
  }

  async function download(pull: Pull, cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    try {
      await files.pull(cargo, signal, onChange);
      pull.state = "on disk";
    } catch (error) {
      pull.state = "failed";
      pull.detail = error instanceof Error ? error.message : String(error);
    }
    onChange();
  }

  function forgetOldest(): void {
    if (pulls.size < MAX_PULLS) return;
    const [oldest] = [...pulls].find(([, pull]) => hasEnded(pull)) ?? [];
    if (oldest === undefined) throw new CliError(`${MAX_PULLS} Cargos are being pulled. Wait until one has finished`);
    pulls.delete(oldest);
  }

  return { begin, receive, status, close };
}

export type Pulls = ReturnType<typeof openPulls>;

function hasEnded({ state }: Pull): boolean {
  return state === "on disk" || state === "failed";
}
