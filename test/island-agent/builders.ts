import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { IslandState } from "../../shared/protocol/from-island.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import type { Logger } from "../../shared/logger.ts";
import type { DiskFullError } from "../../island-agent/disk/disk-full-error.ts";
import type { ArtifactLease } from "../../island-agent/artifacts/artifact-store.ts";
import { EventLog } from "../support/event-log.ts";
import type { FakeScript } from "../support/models/fake-runtime.ts";
import { makeHello } from "../support/network/frames.ts";
import { NO_ENGINES } from "./no-engines.ts";

export const NEVER = new AbortController().signal;
/** The policy of an owner who has set only `containers.network`. */
export const ALLOWS_ALL: OwnerPolicy = {
  network: true,
  containerGpu: true,
  runtimes: { allow: null, deny: [] },
  categories: { allow: null, deny: [] },
  approvedOnly: false,
};
export const ISLAND_TOKEN = `it_${"a".repeat(40)}`;

export function makeManifest(override: Partial<CargoManifest> = {}): CargoManifest {
  return {
    slug: "a",
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: null,
    requiredRamBytes: 10,
    requiredVramBytes: 0,
    contextTokens: null,
    ...override,
  };
}

export function makeAssign(override: Partial<Assign> & { script?: FakeScript; slug?: string } = {}): Assign {
  const { script = {}, slug = "a", ...rest } = override;
  return {
    type: "assign",
    jobId: "job_1",
    attempt: 1,
    claim: "claim-1",
    cargo: makeManifest({ slug }),
    signature: "",
    input: { ...script },
    runLimitMs: 300_000,
    ...rest,
  };
}

export function makeHardware(override: Partial<Hardware> = {}): Hardware {
  return { ...makeHello().hardware, ...override };
}

/** Log lines as "level message", with their facts. */
export class FakeLog implements Logger {
  readonly events = new EventLog();
  readonly facts: object[] = [];
  /** "over" for each session that ended or did not start. */
  readonly sessions = new EventLog();
  info(facts: object, message: string): void {
    this.facts.push(facts);
    if (/^(?:Session ended|Not connected); /.test(message)) this.sessions.add("over");
    this.events.add(`info ${message}`);
  }
  warn(facts: object, message: string): void {
    this.facts.push(facts);
    this.events.add(`warn ${message}`);
  }
  error(facts: object, message: string): void {
    this.facts.push(facts);
    this.events.add(`error ${message}`);
  }
}

/** Parts of an executor, without disk checks and without reports. */
export const QUIET = { files: { refusalOf: () => null }, engines: NO_ENGINES, onChange: () => undefined };

/**
 * A disk that contains every Cargo that is not in `held`. Its events are "fetch a", "lease a" and "release a". A Cargo
 * without a model causes none.
 */
export class FakeFiles {
  readonly events = new EventLog();
  readonly held = new Set<string>();
  onDisk: IslandState["cachedModels"] = [];
  /** Reports progress of the latest download. */
  progress: () => void = () => undefined;
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  async acquire({ slug, model }: CargoManifest, signal: AbortSignal, onProgress?: () => void): Promise<ArtifactLease> {
    this.progress = onProgress ?? this.progress;
    if (model === null) return { path: null, release: () => undefined };
    this.events.add(`fetch ${slug}`);
    if (this.held.has(slug)) {
      const aborted = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => aborted.reject(signal.reason as Error), { once: true });
      await Promise.race([this.#gate(slug).promise, aborted.promise]);
    }
    this.events.add(`lease ${slug}`);
    return { path: `/models/${slug}`, release: () => this.events.add(`release ${slug}`) };
  }

  go(slug: string): void {
    this.#gate(slug).resolve();
  }

  async preload(cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    (await this.acquire(cargo, signal)).release();
    this.onDisk.push({ key: cacheKeyOf(cargo) ?? "", bytes: cargo.model?.sizeBytes ?? 1 });
  }

  pull(cargo: CargoManifest, signal: AbortSignal): Promise<void> {
    return this.preload(cargo, signal);
  }

  budgetBytes = 1_000;

  async freeSpace(cargo: CargoManifest, _mayRemove?: (slug: string) => boolean): Promise<number> {
    const usedBytes = this.onDisk.reduce((sum, { bytes }) => sum + bytes, 0);
    return Math.max(0, usedBytes + (cargo.model?.sizeBytes ?? 1) - this.budgetBytes);
  }

  bytesOnDisk(cargo: CargoManifest): number | null {
    return this.onDisk.find(({ key }) => key === cacheKeyOf(cargo))?.bytes ?? null;
  }

  cachedModels(): IslandState["cachedModels"] {
    return this.onDisk;
  }

  downloads(): IslandState["downloads"] {
    return [];
  }

  lack: DiskFullError | null = null;

  refusalOf(): DiskFullError | null {
    return this.lack;
  }

  noSpaceFor(): string[] {
    return [];
  }

  #gate(slug: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(slug) ?? Promise.withResolvers<void>();
    this.#gates.set(slug, gate);
    return gate;
  }
}
