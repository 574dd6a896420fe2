import type { Random } from "../support/random.ts";
import { CARGO_NAMES, type CargoName } from "./settings.ts";
import type { AuditEvent } from "./simulated-island.ts";
import type { Step } from "./steps.ts";
import { ACCOUNTS, type World } from "./world.ts";

/** Relative frequency of each kind of step in a seed. Some seeds have no faults, so that their histories get long. */
export type Weights = Readonly<Record<Kind, number>>;
const BASE = {
  submit: 7,
  repeat: 2,
  cancel: 2,
  open: 7,
  read: 14,
  cut: 1,
  dial: 10,
  up: 26,
  down: 22,
  work: 26,
  commit: 15,
  start: 6,
  freeDisk: 2,
  flow: 4,
  timer: 3,
} as const;
const FAULTS = {
  crash: 5,
  loseAtCoordinator: 3,
  loseAtIsland: 3,
  stall: 2,
  restartIsland: 2,
  fillDisk: 1,
  pass: 2,
  setClock: 1,
  mischief: 8,
} as const;
type Kind = keyof typeof BASE | keyof typeof FAULTS;
const KINDS = [...Object.keys(BASE), ...Object.keys(FAULTS)] as Kind[];
const FAULT_KINDS = Object.keys(FAULTS) as (keyof typeof FAULTS)[];
const PASSES_MS = [100, 1_000, 6_000, 16_000, 46_000, 61_000, 301_000, 3_601_000] as const;
const JUMPS_MS = [-3_600_000, -5_000, 5_000, 3_600_000] as const;
/** Prefers Islands that start runs and continue them. */
const DEEDS: readonly AuditEvent[] = [
  ...(["start", "start", "token", "token", "token", "token", "token", "finish", "finish", "finish"] as const),
  ...(["progress", "failAgain", "failFinally", "stop", "refuse"] as const),
];
const MAX_REQUESTS = 8;
const MAX_READERS = 6;

export function weightsOf(random: Random): Weights {
  const faults = FAULT_KINDS.map((kind) => [kind, random.chance(0.6) ? FAULTS[kind] : 0] as const);
  return { ...BASE, ...(Object.fromEntries(faults) as Record<keyof typeof FAULTS, number>) };
}

/** Returns a step that is probably possible now. */
export function propose(world: World, random: Random, weights: Weights): Step {
  for (let tries = 0; tries < 50; tries += 1) {
    const step = PROPOSALS[pickKind(random, weights)](world, random);
    if (step !== null) return step;
  }
  return { do: "timer" };
}

function pickKind(random: Random, weights: Weights): Kind {
  const total = KINDS.reduce((sum, kind) => sum + weights[kind], 0);
  let left = random.next() * total;
  for (const kind of KINDS) {
    left -= weights[kind];
    if (left < 0) return kind;
  }
  return "timer";
}

const PROPOSALS: { readonly [K in Kind]: (world: World, random: Random) => Step | null } = {
  submit: (world, random) => (world.requests.size >= MAX_REQUESTS ? null : submission(world, random)),
  repeat: (world, random) => withRequest(world, random, (request) => ({ do: "repeat", request })),
  cancel: (world, random) =>
    withRequest(world, random, (request) => ({
      do: "cancel",
      request,
      nth: random.chance(0.5) ? null : random.between(0, 2),
    })),
  open: (world, random) =>
    withRequest(world, random, (request) => {
      const known = [...world.readers].filter(([, reader]) => !reader.isOpen && reader.ending === null);
      const again = known.length > 0 && (world.readers.size >= MAX_READERS || random.chance(0.6));
      const reader = again ? random.pick(known)[0] : world.readers.size;
      return reader >= MAX_READERS ? null : { do: "open", reader, request, nth: random.between(0, 2) };
    }),
  read: (world, random) =>
    withReader(world, random, (reader) => ({ do: "read", reader, events: random.between(1, 6) })),
  cut: (world, random) => withReader(world, random, (reader) => ({ do: "cut", reader })),
  dial: (world, random) =>
    world.serving === null
      ? null
      : withOne(
          random,
          indices(world.islands, ({ link }) => link === null),
          (island) => ({ do: "dial", island }),
        ),
  up: (world, random) =>
    withOne(
      random,
      indices(world.links, ({ isStalled, up, isGone }) => !isStalled && !isGone && up.length > 0),
      (link) => ({ do: "up", link }),
    ),
  down: (world, random) =>
    withOne(
      random,
      indices(world.links, (link) => !link.isStalled && link.down.length > 0 && link.isHeldByIsland),
      (link) => ({ do: "down", link }),
    ),
  work: (world, random) =>
    withOne(
      random,
      indices(world.islands, ({ runs }) => runs.length > 0),
      (island) => {
        const runs = world.islands[island]?.runs ?? [];
        const run = random.between(0, runs.length - 1);
        const auditEvent = runs[run]?.isCancelled === true ? "stop" : random.pick(DEEDS);
        return { do: "work", island, run, auditEvent };
      },
    ),
  commit: ({ disk }) => (disk.waiting.length === 0 ? null : { do: "commit" }),
  start: ({ life }) => (life === null ? { do: "start" } : null),
  freeDisk: ({ disk }) => (disk.isFull ? { do: "freeDisk" } : null),
  fillDisk: ({ disk }) => (disk.isFull ? null : { do: "fillDisk" }),
  flow: (world, random) =>
    withOne(
      random,
      indices(world.links, ({ isStalled }) => isStalled),
      (link) => ({ do: "flow", link }),
    ),
  stall: (world, random) =>
    withOne(
      random,
      indices(world.links, (link) => link.isHeldByIsland && !link.isStalled),
      (link) => ({ do: "stall", link }),
    ),
  timer: ({ life }) => (life === null || life.clock.pendingTimers === 0 ? null : { do: "timer" }),
  crash: (world, random) => {
    if (world.life === null) return null;
    const during = duringCrash(world, random);
    return {
      do: "crash",
      during,
      microtasks: random.chance(0.3) ? 0 : random.between(0, 15),
      isBlackout: random.chance(0.3),
    };
  },
  // The end of a closed connection is noticed soon.
  loseAtCoordinator: (world, random) =>
    withOne(
      random,
      indices(world.links, (link) => !link.isGone),
      (link) => ({ do: "loseAtCoordinator", link }),
    ),
  loseAtIsland: (world, random) =>
    withOne(
      random,
      indices(world.links, (link) => link.isHeldByIsland),
      (link) => ({ do: "loseAtIsland", link }),
    ),
  restartIsland: (world, random) => ({ do: "restartIsland", island: random.between(0, world.islands.length - 1) }),
  pass: (_, random) => ({ do: "pass", ms: random.pick(PASSES_MS) }),
  setClock: (_, random) => ({ do: "setClock", ms: random.pick(JUMPS_MS) }),
  mischief: ({ plan, islands }, random) =>
    plan.hasBroken ? { do: "mischief", island: islands.length - 1, pick: random.between(0, 255) } : null,
};

/** Returns the step during which the coordinator is killed. */
function duringCrash(world: World, random: Random): Step | null {
  const kinds: readonly Kind[] = [
    "commit",
    "commit",
    "up",
    "up",
    "submit",
    "cancel",
    "timer",
    "repeat",
    "read",
    "read",
  ];
  return random.chance(0.2) ? null : PROPOSALS[random.pick(kinds)](world, random);
}

function submission(world: World, random: Random): Step | null {
  if (world.serving === null) return null;
  const kind = random.pick(["job", "job", "job", "job", "chat", "batch"] as const);
  const cargo: CargoName = kind === "chat" ? "text" : random.pick(["text", "text", ...CARGO_NAMES]);
  return {
    do: "submit",
    plan: {
      request: world.requests.size,
      accountId: random.pick(ACCOUNTS.slice(0, 2)),
      cargo,
      tokens: random.chance(0.05) ? 0 : random.between(1, 5),
      priority: random.pick([0, 0, 50, 100]),
      kind,
      jobs: kind === "batch" ? random.between(2, 3) : 1,
      failFast: random.chance(0.3),
      isKeyed: random.chance(0.6),
    },
  };
}

function withRequest(world: World, random: Random, make: (request: number) => Step | null): Step | null {
  return world.serving === null ? null : withOne(random, [...world.requests.keys()], make);
}

function withReader(world: World, random: Random, make: (reader: number) => Step): Step | null {
  const open = [...world.readers].filter(([, reader]) => reader.isOpen).map(([number]) => number);
  return withOne(random, open, make);
}

function withOne(random: Random, choices: readonly number[], make: (choice: number) => Step | null): Step | null {
  return choices.length === 0 ? null : make(random.pick(choices));
}

/** Returns the indexes of the matching entries. */
function indices<T>(list: readonly T[], is: (item: T) => boolean): number[] {
  return list.flatMap((item, index) => (is(item) ? [index] : []));
}
