import { fits } from "../../coordinator/scheduler/fit.ts";
import type { SchedulerIsland } from "../../coordinator/scheduler/events.ts";
import { cacheKeyOf, type CargoManifest } from "../../shared/cargo.ts";
import { GIB } from "../../shared/format-bytes.ts";
import { Random } from "../../test/support/random.ts";

interface IslandClass {
  /** Share of all Islands. */
  readonly part: number;
  readonly ramGb: number;
  readonly vramGb: number;
  readonly slots: number;
}

const CLASSES: readonly IslandClass[] = [
  { part: 0.3, ramGb: 8, vramGb: 0, slots: 1 },
  { part: 0.25, ramGb: 16, vramGb: 0, slots: 1 },
  { part: 0.2, ramGb: 16, vramGb: 8, slots: 2 },
  { part: 0.15, ramGb: 32, vramGb: 12, slots: 2 },
  { part: 0.08, ramGb: 64, vramGb: 24, slots: 4 },
  { part: 0.02, ramGb: 128, vramGb: 80, slots: 8 },
];

/** The sizes of Cargos. Within each size, the first Cargo is the most popular. */
const SIZES = [
  { part: 0.55, count: 8, ramGb: 2, vramGb: 0 },
  { part: 0.25, count: 6, ramGb: 12, vramGb: 0 },
  { part: 0.14, count: 5, ramGb: 12, vramGb: 6 },
  { part: 0.05, count: 3, ramGb: 32, vramGb: 20 },
  { part: 0.01, count: 2, ramGb: 96, vramGb: 60 },
] as const;

/** Number of different sets of models on disk among the Islands of a class. */
const VARIANTS = 4;
const MAX_RTT_MS = 200;

interface SimulatedCargo {
  readonly manifest: CargoManifest;
  /** Share of all jobs. */
  readonly part: number;
  /** Whether each class of Islands is suitable. */
  readonly fitsClass: readonly boolean[];
}

/** Kinds of Cargos and Islands, which stay the same in a run. */
export class Fleet {
  readonly cargos: readonly SimulatedCargo[];
  readonly islands: number;
  /** Total slots of all Islands. */
  readonly slots: number;
  readonly #classOf: Uint8Array;
  readonly #rttMs: Uint8Array;
  /** Models by class and variant, in lists that all Islands of the kind share. */
  readonly #models: readonly (readonly { cachedModels: readonly string[]; loaded: readonly string[] }[])[];

  constructor(islands: number, seed: number) {
    const random = new Random(seed);
    this.islands = islands;
    this.cargos = makeCargos();
    this.#models = CLASSES.map((_, index) =>
      Array.from({ length: VARIANTS }, (_, each) => this.#modelsOf(index, each)),
    );
    this.#classOf = Uint8Array.from({ length: islands }, () => pickClass(random));
    this.#rttMs = Uint8Array.from({ length: islands }, () => random.between(1, MAX_RTT_MS));
    this.slots = this.#classOf.reduce((sum, index) => sum + slotsOf(index), 0);
  }

  get classes(): number {
    return CLASSES.length;
  }

  classOf(island: number): number {
    return this.#classOf[island] as number;
  }

  slotsOf(island: number): number {
    return slotsOf(this.classOf(island));
  }

  info(island: number): SchedulerIsland {
    const index = this.classOf(island);
    const models = this.#models[index]?.[island % VARIANTS];
    if (models === undefined) throw new Error(`Unknown class ${index}`);
    return {
      id: `isle_${island}`,
      accountId: `owner_${island}`,
      ...offerOf(CLASSES[index] as IslandClass),
      ...models,
      downloads: [],
      rttMs: this.#rttMs[island] as number,
    };
  }

  #modelsOf(classIndex: number, variant: number) {
    const fitting = this.cargos.filter(({ fitsClass }) => fitsClass[classIndex]);
    const own = fitting.filter((_, index) => index % VARIANTS === variant).map(({ manifest }) => manifest);
    return {
      cachedModels: own.map((cargo) => cacheKeyOf(cargo) ?? ""),
      loaded: own.slice(0, 1).map(({ slug }) => slug),
    };
  }
}

const slotsOf = (index: number): number => (CLASSES[index] as IslandClass).slots;

function offerOf({ ramGb, vramGb, slots }: IslandClass) {
  return { runtimes: ["llmcpp"] as const, ramBytes: ramGb * GIB, vramBytes: vramGb * GIB, slots, draining: false };
}

function pickClass(random: Random): number {
  let rest = random.next();
  for (const [index, { part }] of CLASSES.entries()) {
    rest -= part;
    if (rest < 0) return index;
  }
  return 0;
}

function makeCargos(): SimulatedCargo[] {
  return SIZES.flatMap(({ part, count, ramGb, vramGb }, size) => {
    // Zipf's law: the second Cargo is requested half as often as the first.
    const all = Array.from({ length: count }, (_, index) => 1 / (index + 1)).reduce((sum, each) => sum + each);
    return Array.from({ length: count }, (_, index): SimulatedCargo => {
      const slug = `cargo-${size}-${index}`;
      const manifest: CargoManifest = {
        slug,
        runtimeType: "llmcpp",
        onnxTaskType: null,
        model: { url: `hf:sim/${slug}`, sha256: null, sizeBytes: null },
        requiredRamBytes: ramGb * GIB,
        requiredVramBytes: vramGb * GIB,
        contextTokens: null,
      };
      const needs = { ...manifest, onlyIslandsOf: null };
      const fitsClass = CLASSES.map((each) => fits(needs, { accountId: "owner", ...offerOf(each) }) === true);
      return { manifest, part: part / (index + 1) / all, fitsClass };
    });
  });
}
