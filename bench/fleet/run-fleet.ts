import { Scheduler } from "../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEffect, SchedulerEvent, SchedulerIsland } from "../../coordinator/scheduler/events.ts";
import type { KnownCargo } from "../../coordinator/scheduler/fit.ts";
import { VirtualClock } from "../cells/virtual-clock.ts";
import { MODELS, seeded, sendChats, type Fleet } from "./fleets.ts";
import { ModelledIsland, type Chat, type IslandListener, type IslandPlan } from "./modelled-island.ts";
import type { Policy } from "./policies.ts";

/** A chat that ended. */
export interface Ended {
  readonly nth: number;
  readonly islandId: string;
  readonly ms: number;
  readonly endedMs: number;
  readonly tokens: number;
}

export interface Outcome {
  readonly ended: readonly Ended[];
  /** Prompt tokens that were read, by all Islands. */
  readonly readTokens: number;
  /** Number of the first chat that arrived after the change of the fleet. */
  readonly changedAt: number | null;
}

const RTT_MS = 5;

/** What places the chats of a run. */
interface Placer extends IslandListener {
  add(island: ModelledIsland): void;
  arrive(chat: Chat): void;
}

/** Sends all chats to the fleet and returns when they have ended. The chats are the same for each placer. */
async function run(
  fleet: Fleet,
  load: number,
  seed: number,
  open: (clock: VirtualClock, random: () => number) => Placer,
): Promise<Outcome> {
  const clock = new VirtualClock();
  const ended: Ended[] = [];
  const numbers = new Map<string, number>();
  const all: ModelledIsland[] = [];
  const nowMs = (): number => clock.monotonicMs();
  const placer = open(clock, seeded(seed + 1));
  let changedAt: number | null = null;

  const listener: IslandListener = {
    firstOutput: (chat, island) => placer.firstOutput(chat, island),
    loadedChanged: (island) => placer.loadedChanged(island),
    ended(chat, island, cachedTokens) {
      const nth = numbers.get(chat.id) ?? 0;
      const endedMs = nowMs();
      const ms = endedMs - chat.arrivedMs + RTT_MS;
      ended.push({ nth, islandId: island.id, ms, endedMs, tokens: chat.outputTokens });
      placer.ended(chat, island, cachedTokens);
      sender.ended(chat);
    },
  };
  const raise = (plan: IslandPlan, nth: number): void => {
    const island = new ModelledIsland(plan, clock, listener, seeded(seed * 1_000 + nth));
    all.push(island);
    placer.add(island);
  };
  for (const [nth, plan] of fleet.islands.entries()) raise(plan, nth);

  const sender = sendChats(
    fleet,
    load,
    seed,
    (ms, task) => void clock.after(ms, task),
    nowMs,
    (chat) => {
      const nth = numbers.size;
      numbers.set(chat.id, nth);
      const { change } = fleet;
      if (change !== undefined && nth === change.after) {
        changedAt = nth;
        if (change.joins !== undefined) raise(change.joins, 999);
        const slow = all.find(({ id }) => id === change.slows?.id);
        if (slow !== undefined && change.slows !== undefined) {
          const { alphaMs, betaMs, readMsPerToken, loadMs } = slow.speeds;
          const { factor } = change.slows;
          slow.setSpeeds({
            alphaMs: alphaMs * factor,
            betaMs: betaMs * factor,
            readMsPerToken: readMsPerToken * factor,
            loadMs,
          });
        }
      }
      placer.arrive(chat);
    },
  );
  await clock.runUntil(() => ended.length === fleet.chats);
  const readTokens = all.reduce((sum, { read }) => sum + read, 0);
  return { ended, readTokens, changedAt };
}

/** Runs a policy with one queue: first come, first served. */
export function runPolicy(
  fleet: Fleet,
  load: number,
  seed: number,
  make: (random: () => number) => Policy,
): Promise<Outcome> {
  return run(fleet, load, seed, (clock, random) => {
    const policy = make(random);
    const isLarge = fleet.islands.length > MAX_SCANNED && policy.comparesAll !== true;
    const candidatesOf = isLarge ? fewCandidates(random) : allCandidates();
    let waiting: Chat[] = [];
    const serve = (): void => {
      policy.begin?.();
      const rest: Chat[] = [];
      for (const [index, chat] of waiting.entries()) {
        const islands = candidatesOf.find(chat.slug);
        const hasFree = islands.some(({ isFree }) => isFree);
        if (!hasFree && fleet.slugs.length === 1) {
          rest.push(...waiting.slice(index));
          break;
        }
        const chosen = hasFree ? policy.choose(chat, islands) : null;
        if (chosen === null) rest.push(chat);
        else {
          chosen.start(chat);
          candidatesOf.changed(chosen);
          policy.changed?.(chosen);
        }
      }
      waiting = rest;
    };
    return {
      add(island) {
        candidatesOf.add(island);
        policy.changed?.(island);
        serve();
      },
      arrive(chat) {
        waiting.push(chat);
        serve();
      },
      firstOutput: (chat) => policy.firstOutput?.(chat, clock.monotonicMs()),
      loadedChanged: (island) => policy.changed?.(island),
      ended(chat, island) {
        policy.ended?.(chat, island, clock.monotonicMs());
        candidatesOf.changed(island);
        policy.changed?.(island);
        serve();
      },
    };
  });
}

/** Number of Islands up to which a policy compares all of them. */
const MAX_SCANNED = 100;
/** Number of random Islands among the candidates of a large fleet. */
const RANDOM_CANDIDATES = 8;

/** The Islands that a policy compares. */
interface Candidates {
  add(island: ModelledIsland): void;
  changed(island: ModelledIsland): void;
  find(slug: string): readonly ModelledIsland[];
}

function allCandidates(): Candidates {
  const byModel = new Map<string, ModelledIsland[]>();
  return {
    add(island) {
      for (const slug of island.plan.slugs) {
        const islands = byModel.get(slug) ?? [];
        islands.push(island);
        byModel.set(slug, islands);
      }
    },
    changed: () => undefined,
    find: (slug) => byModel.get(slug) ?? [],
  };
}

/**
 * The least busy Island of each hardware class, whose Islands are equal in large fleets, and a few random ones. The best
 * Island of all is among them.
 */
function fewCandidates(random: () => number): Candidates {
  const all: ModelledIsland[] = [];
  const places = new Map<ModelledIsland, Set<ModelledIsland>>();
  const byBusy = new Map<string, Set<ModelledIsland>[]>();
  const put = (island: ModelledIsland): void => {
    places.get(island)?.delete(island);
    const classes = byBusy.get(island.plan.hardwareClass) ?? [];
    byBusy.set(island.plan.hardwareClass, classes);
    const equals = (classes[island.busy] ??= new Set());
    equals.add(island);
    places.set(island, equals);
  };
  return {
    add(island) {
      all.push(island);
      put(island);
    },
    changed: put,
    find() {
      const found = new Set<ModelledIsland>();
      for (const classes of byBusy.values()) {
        const [first] = classes.find((equals) => equals !== undefined && equals.size > 0) ?? [];
        if (first !== undefined) found.add(first);
      }
      for (let nth = 0; nth < RANDOM_CANDIDATES; nth += 1) {
        const island = all[Math.floor(random() * all.length)];
        if (island !== undefined) found.add(island);
      }
      const free = [...found].filter(({ isFree }) => isFree);
      return free;
    },
  };
}

/** Runs the real scheduler. */
export function runScheduler(fleet: Fleet, load: number, seed: number): Promise<Outcome> {
  return run(fleet, load, seed, (clock, random) => {
    const cargos = new Map(fleet.slugs.map((slug) => [slug, cargoOf(slug)]));
    const scheduler = new Scheduler((slug) => cargos.get(slug), 0.5, 0.02, 1_000, random);
    const islands = new Map<string, ModelledIsland>();
    const chats = new Map<string, Chat>();
    let wake: { cancel(): void } | null = null;

    const step = (event: SchedulerEvent): void => {
      for (const effect of scheduler.step(event, clock.monotonicMs())) carryOut(effect);
      wake?.cancel();
      const atMs = scheduler.nextWakeMs;
      wake = atMs === null ? null : clock.after(atMs - clock.monotonicMs(), () => step({ kind: "time_passed" }));
    };
    const carryOut = (effect: SchedulerEffect): void => {
      if (effect.kind !== "assign") return;
      const chat = chats.get(effect.jobId);
      if (chat !== undefined) islands.get(effect.islandId)?.start(chat);
    };
    return {
      add(island) {
        islands.set(island.id, island);
        step({ kind: "island_up", island: factsOf(island.plan, island.loaded), busy: 0 });
      },
      loadedChanged: (island) => step({ kind: "island_changed", island: factsOf(island.plan, island.loaded) }),
      arrive(chat) {
        chats.set(chat.id, chat);
        step({
          kind: "job_waiting",
          job: {
            id: chat.id,
            accountId: chat.accountId,
            share: 100,
            slug: chat.slug,
            jobClass: "chat",
            onlyIslandsOf: null,
            priority: 50,
            createdAtMs: clock.now(),
            waitLimitMs: 3_600_000,
            avoidIslands: [],
            size: { input: chat.promptTokens, maxOutput: 4_096, promptParts: chat.promptParts },
          },
        });
      },
      firstOutput: ({ id }, island) => step({ kind: "first_output", islandId: island.id, jobId: id }),
      ended({ id, slug, promptTokens, outputTokens }, { id: islandId }, cachedTokens) {
        const tokens = { prompt: promptTokens, cached: cachedTokens, output: outputTokens };
        step({ kind: "run_ended", islandId, jobId: id, slug, succeeded: true, tokens });
        step({ kind: "slot_freed", islandId, jobId: id });
        chats.delete(id);
      },
    };
  });
}

export function cargoOf(slug: string): KnownCargo {
  return {
    slug,
    runtimeType: "llmcpp",
    onnxTaskType: null,
    model: { url: `hf:atoll/${slug}`, sha256: null, sizeBytes: 4e9 },
    requiredRamBytes: 0,
    requiredVramBytes: 0,
    contextTokens: null,
  };
}

export function factsOf(plan: IslandPlan, loaded: Iterable<string>): SchedulerIsland {
  return {
    id: plan.id,
    accountId: "owner",
    runtimes: ["llmcpp"],
    ramBytes: 1e12,
    vramBytes: 0,
    slots: plan.slots,
    draining: false,
    cachedModels: plan.slugs.map((slug) => `hf:atoll/${slug}`),
    loaded: [...loaded],
    // The disk has no space for the models of other Islands.
    noSpaceFor: MODELS.filter((slug) => !plan.slugs.includes(slug)),
    downloads: [],
    rttMs: RTT_MS,
    hardwareClass: plan.hardwareClass,
  };
}
