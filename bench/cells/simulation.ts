import type { Bus } from "../../coordinator/bus/bus.ts";
import type { Peer } from "../../coordinator/store/cluster-store.ts";
import { Random } from "../../test/support/random.ts";
import { Cell } from "./cell.ts";
import type { Fleet } from "./fleet.ts";
import type { Latencies } from "./latency.ts";
import { Observer } from "./observer.ts";
import type { Scenario } from "./scenarios.ts";
import { SimulatedNetwork, type Traffic } from "./simulated-bus.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { loadAt, sampleResidualMs, type Workload } from "./workload.ts";

/** Starts the sharing of a coordinator with its peers. */
export type Sharing = (parts: SharingParts) => void;
export interface SharingParts {
  readonly cell: Cell;
  readonly bus: Bus;
  readonly clock: VirtualClock;
  readonly self: Peer;
  /** All coordinators, including this one. */
  readonly peers: readonly Peer[];
}

export interface SimulationOptions {
  readonly coordinators: number;
  readonly fleet: Fleet;
  readonly workload: Workload;
  readonly scenario: Pick<Scenario, "islands" | "routing" | "phases" | "window">;
  readonly sharing: Sharing;
  readonly latencies: Latencies;
  readonly seed: number;
}

export interface Outcome {
  readonly observer: Observer;
  readonly traffic: Traffic;
  /** Virtual time until the last job started. */
  readonly tookMs: number;
}

const SPREAD_MS = 1_000;

/** Runs the workload until all jobs have started. @throws if a job is lost or starts twice, or a slot is used twice. */
export async function simulate(options: SimulationOptions): Promise<Outcome> {
  const { coordinators, fleet, workload, scenario, latencies, seed } = options;
  const clock = new VirtualClock();
  const observer = new Observer(clock, fleet, workload, scenario.window);
  const network = new SimulatedNetwork(clock, latencies.bus, seed);
  const random = new Random(seed);
  const peers = Array.from({ length: coordinators }, (_, index) => makePeer(index));
  const cells = peers.map(
    ({ id }) => new Cell(id, { clock, fleet, workload, observer, latencies, random: random.fork() }),
  );
  raiseIslands(cells, options);
  for (const [index, cell] of cells.entries()) {
    const parts: SharingParts = { cell, bus: network.newBus(), clock, self: peers[index] as Peer, peers };
    // Coordinators do not start at the same moment, so their timers must not be in step.
    clock.schedule(random.next() * SPREAD_MS, () => options.sharing(parts));
  }
  const submit = (job: number): void => {
    const index = scenario.routing === "account" ? (workload.account[job] as number) : job;
    cells[Math.floor(new Random(index).next() * coordinators)]?.submit(job);
    if (job + 1 === workload.jobs) return;
    clock.after((workload.arrivalMs[job + 1] as number) - clock.monotonicMs(), () => submit(job + 1));
  };
  clock.after(workload.arrivalMs[0] as number, () => submit(0));
  await clock.runUntil(() => observer.started === workload.jobs);
  return { observer, traffic: network.traffic, tookMs: clock.monotonicMs() };
}

/** Creates a peer. The index has the same number of digits in all ids. */
function makePeer(index: number): Peer {
  const id = `c${String(index).padStart(2, "0")}`;
  return { id, address: `http://${id}.example`, version: "1.0.0" };
}

/** Creates the Islands with the busy slots of a steady state at the first load. */
function raiseIslands(cells: readonly Cell[], { fleet, scenario, seed }: SimulationOptions): void {
  const random = new Random(seed + 1);
  const busyPart = Math.min(1, loadAt(scenario.phases, 0));
  // The Islands and their jobs are the same for any number of coordinators.
  const positions = new Random(seed + 2);
  for (let island = 0; island < fleet.islands; island += 1) {
    const residualsMs: number[] = [];
    for (let slot = 0; slot < fleet.slotsOf(island); slot += 1) {
      if (random.chance(busyPart)) residualsMs.push(sampleResidualMs(random));
    }
    // For a ramp, the square root makes the probability of a coordinator grow with its index.
    const position = scenario.islands === "even" ? positions.next() : Math.sqrt(positions.next());
    cells[Math.floor(position * cells.length)]?.raise(island, residualsMs);
  }
}
