import type { CargoManifest } from "../../shared/cargo.ts";
import type { Clock, Timer } from "../../shared/clock.ts";
import { CliError } from "../../shared/errors.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";

export interface PullsDeps {
  readonly clock: Clock;
  readonly files: Pick<CargoFiles, "pull" | "downloads">;
  /** Asks the coordinator for Cargos, which come by `offer`; false when there is no session to ask in. */
  readonly want: (slugs: readonly string[]) => boolean;
  /** Something that reports show has changed. */
  readonly onChange: () => void;
}

/** A Cargo that the owner wants on disk, and how far it is. */
export interface PullStatus {
  readonly slug: string;
  readonly state: "asked for" | "fetching" | "on disk" | "failed";
  /** 0 to 1; null while the size is unknown. */
  readonly fraction: number | null;
  /** Why it failed. */
  readonly detail: string;
}

interface Pull {
  state: PullStatus["state"];
  detail: string;
  patience: Timer | null;
}

/** The coordinator answers at once when it has the Cargo, and not at all when it has not. */
const ANSWER_LIMIT_MS = 10_000;
/** Most that are remembered; those that ended are forgotten first. */
const MAX_PULLS = 100;

/** What the owner asked to have on disk by `island models pull`. */
export class Pulls {
  readonly #deps: PullsDeps;
  readonly #pulls = new Map<string, Pull>();
  /** Fetches under way; they never reject. */
  readonly #ongoing = new Set<Promise<void>>();

  constructor(deps: PullsDeps) {
    this.#deps = deps;
  }

  /** Begins, unless it is under way. @throws {CliError} when there is no session, or too much is under way. */
  begin(slug: string): void {
    const known = this.#pulls.get(slug);
    if (known !== undefined && !hasEnded(known)) return;
    this.#pulls.delete(slug);
    this.#makeRoom();
    if (!this.#deps.want([slug]))
      throw new CliError("The agent has no session with its coordinator now; try again later");
    const pull: Pull = { state: "asked for", detail: "", patience: null };
    pull.patience = this.#deps.clock.schedule(ANSWER_LIMIT_MS, () => {
      pull.state = "failed";
      pull.detail = `the coordinator sent no Cargo ${slug}: is there one, and may it run?`;
    });
    this.#pulls.set(slug, pull);
  }

  /** Takes a Cargo that the coordinator sent; false when the owner did not ask for it. */
  offer(cargo: CargoManifest, signal: AbortSignal): boolean {
    const pull = this.#pulls.get(cargo.slug);
    if (pull?.state !== "asked for") return false;
    pull.patience?.cancel();
    pull.state = "fetching";
    const fetching = this.#fetch(pull, cargo, signal).finally(() => this.#ongoing.delete(fetching));
    this.#ongoing.add(fetching);
    return true;
  }

  status(): PullStatus[] {
    const downloads = this.#deps.files.downloads();
    return [...this.#pulls].map(([slug, { state, detail }]) => {
      const download = downloads.find((each) => each.slug === slug);
      return { slug, state, detail, fraction: state === "on disk" ? 1 : (download?.fraction ?? null) };
    });
  }

  /** Waits for what goes on, which the signals of `offer` end. */
  async close(): Promise<void> {
    for (const { patience } of this.#pulls.values()) patience?.cancel();
    await Promise.all(this.#ongoing);
  }

  async #fetch(pull: Pull, cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    const { files, onChange } = this.#deps;
    try {
      await files.pull(cargo, signal, onChange);
      pull.state = "on disk";
    } catch (error) {
      pull.state = "failed";
      pull.detail = error instanceof Error ? error.message : String(error);
    }
    onChange();
  }

  #makeRoom(): void {
    if (this.#pulls.size < MAX_PULLS) return;
    const [oldest] = [...this.#pulls].find(([, pull]) => hasEnded(pull)) ?? [];
    if (oldest === undefined) throw new CliError(`${MAX_PULLS} Cargos are being pulled; wait for them`);
    this.#pulls.delete(oldest);
  }
}

function hasEnded({ state }: Pull): boolean {
  return state === "on disk" || state === "failed";
}
