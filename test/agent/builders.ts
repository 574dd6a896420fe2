import type { ModelRef } from "../../shared/cargo.ts";
import { modelKey, type CargoManifest } from "../../shared/cargo.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { Assign } from "../../shared/protocol/from-coordinator.ts";
import type { AgentLog } from "../../island-agent/agent-log.ts";
import type { ModelDownload, ModelLease, StoredModel } from "../../island-agent/models/model-store.ts";
import { EventLog } from "../support/event-log.ts";
import type { FakeScript } from "../support/fake-runtime.ts";
import { makeHello } from "../support/frames.ts";

export const NEVER = new AbortController().signal;
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
    input: { ...script },
    runLimitMs: 300_000,
    ...rest,
  };
}

export function makeHardware(override: Partial<Hardware> = {}): Hardware {
  return { ...makeHello().hardware, ...override };
}

/** Log lines as "level message", with their facts. */
export class FakeLog implements AgentLog {
  readonly events = new EventLog();
  readonly facts: object[] = [];
  info(facts: object, message: string): void {
    this.facts.push(facts);
    this.events.add(`info ${message}`);
  }
  warn(facts: object, message: string): void {
    this.facts.push(facts);
    this.events.add(`warn ${message}`);
  }
}

/** A store in which every model is there, unless it is held. Events: "fetch a", "lease a", "release a". */
export class FakeModels {
  readonly events = new EventLog();
  readonly held = new Set<string>();
  models: StoredModel[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  async acquire(slug: string, ref: ModelRef, signal: AbortSignal): Promise<ModelLease> {
    this.events.add(`fetch ${slug}`);
    if (this.held.has(slug)) {
      const aborted = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => aborted.reject(signal.reason as Error), { once: true });
      await Promise.race([this.#gate(slug).promise, aborted.promise]);
    }
    this.events.add(`lease ${slug}`);
    const release = (): void => this.events.add(`release ${slug}`);
    return { path: `/models/${slug}`, key: modelKey(ref), bytes: 1, release };
  }

  go(slug: string): void {
    this.#gate(slug).resolve();
  }

  list(): StoredModel[] {
    return this.models;
  }

  downloads(): ModelDownload[] {
    return [];
  }

  #gate(slug: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(slug) ?? Promise.withResolvers<void>();
    this.#gates.set(slug, gate);
    return gate;
  }
}
