import fc from "fast-check";
import pg from "pg";
import { expect, it } from "vitest";
import { Lane } from "../../../../coordinator/store/postgres/engine/lane.ts";
import type { OpenWriter } from "../../../../coordinator/store/postgres/engine/writer-connection.ts";
import { KEPT_WRITES } from "../../../../coordinator/store/jobs/hot-writes.ts";
import type { Operation } from "../../../../coordinator/store/postgres/operations/operations.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { soakRounds } from "../../../support/soak-rounds.ts";

const RETRY_MS = 500;
/**
 * Outcomes of a connection attempt or a commit. `lost_after`: the commit is applied, but its reply is lost.
 * `lost_to_another`: the commit is rejected at once and not applied.
 */
const FATES = ["done", "done", "lost_before", "lost_after", "lost_to_another"] as const;
const KINDS = ["kept", "kept", "asked", "faulty"] as const;

/** A server with scripted outcomes. After the script, everything succeeds. */
class ScriptedServer {
  /** Numbers of the operations, in the order of their first write. */
  readonly written: number[] = [];
  readonly faults: string[] = [];
  connections = 0;
  /** A commit of more operations than this times out. */
  maxConcurrency = Infinity;
  readonly #script: (typeof FATES)[number][];

  constructor(script: readonly (typeof FATES)[number][]) {
    this.#script = [...script];
  }

  readonly open: OpenWriter = async (_name, onEnd) => {
    await this.#wait();
    if (this.#fate() !== "done") throw away();
    this.connections += 1;
    let isOpen = true;
    return {
      run: async (operations) => {
        await this.#wait();
        const fate = this.#fate();
        if (!isOpen || fate === "lost_before") throw away();
        if (fate === "lost_to_another") throw deadlock();
        if (operations.length > this.maxConcurrency) throw new Error("Query read timeout");
        const numbers = operations.map((operation) => numberOf(operation as Operation));
        if (operations.some((operation) => isFaulty(operation as Operation))) throw new Error("faulty");
        for (const [index, number] of numbers.entries()) this.#write(number, operations[index] as unknown[]);
        if (fate === "lost_after") throw away();
        return numbers;
      },
      end: async () => {
        if (!isOpen) return;
        isOpen = false;
        this.connections -= 1;
        // The end of a connection is reported late, when another connection has replaced it.
        setImmediate(onEnd);
      },
    };
  };

  #write(number: number, operation: readonly unknown[]): void {
    const isRepeat = operation[2] === true;
    if (!this.written.includes(number)) this.written.push(number);
    else if (!isRepeat) this.faults.push(`${number} was written twice`);
  }

  #fate(): (typeof FATES)[number] {
    return this.#script.shift() ?? "done";
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

const deadlock = (): Error => Object.assign(new pg.DatabaseError("deadlock detected", 0, "error"), { code: "40P01" });
const away = (): Error => Object.assign(new Error("gone"), { code: "ECONNRESET" });

function operationOf(kind: (typeof KINDS)[number], number: number): Operation {
  if (kind === "asked") return ["takeSlots", { accountId: String(number), jobIds: [], limit: 1 }];
  return ["moveJob", { jobId: String(number), event: kind === "faulty" ? "lose" : "start" }] as unknown as Operation;
}

const isFaulty = ([kind, args]: Operation): boolean => kind === "moveJob" && args.event === "lose";

function numberOf([kind, args]: Operation): number {
  return Number(kind === "moveJob" ? args.jobId : kind === "takeSlots" ? args.accountId : NaN);
}

/** Operations of one tick share a commit. */
const ticksArbitrary = fc.array(fc.array(fc.constantFrom(...KINDS), { maxLength: 4 }), { maxLength: 12 });

it("Lane writes each operation once and in call order, whatever happens to its connections and commits", async () => {
  const scriptArbitrary = fc.array(fc.constantFrom(...FATES), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(ticksArbitrary, scriptArbitrary, async (ticks, script) => {
      const server = new ScriptedServer(script);
      const clock = new ManualClock();
      const lane = new Lane(server.open, 0, clock, () => undefined);
      const added: Operation[] = [];
      const results: Promise<string>[] = [];
      const add = (kind: (typeof KINDS)[number]): void => {
        const operation = operationOf(kind, added.length);
        const number = added.push(operation) - 1;
        results.push(
          lane.add(operation).then(
            (value) => (value === number ? "done" : `resolved with ${String(value)}`),
            (error: Error & { code?: string }) => error.code ?? error.message,
          ),
        );
      };
      const pass = async (): Promise<void> => {
        for (let tick = 0; tick < 3; tick += 1) await new Promise((resolve) => setImmediate(resolve));
        clock.advance(RETRY_MS / 2);
      };
      for (const kinds of ticks) {
        for (const kind of kinds) add(kind);
        await pass();
      }
      for (let rest = 0; rest < 3 * script.length + 10; rest += 1) await pass();
      const ended = await Promise.all(results);
      expect(server.faults).toEqual([]);
      expect(server.written).toEqual([...server.written].sort((a, b) => a - b));
      for (const [number, operation] of added.entries()) {
        const result = ended[number];
        if (isFaulty(operation)) expect(result).toBe("faulty");
        else if (KEPT_WRITES.has(operation[0])) expect(result).toBe("done");
        else expect(["done", "storage_unavailable"]).toContain(result);
        if (result === "done") expect(server.written).toContain(number);
      }
      expect([lane.fault, server.connections <= 1]).toEqual([null, true]);
      await lane.close();
      expect([server.connections, clock.pendingTimers]).toEqual([0, 0]);
    }),
    { numRuns: soakRounds(1_000) },
  );
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("Lane writes fewer operations per commit to a server that is too slow for many", async () => {
  const server = new ScriptedServer([]);
  server.maxConcurrency = 3;
  const clock = new ManualClock();
  const lane = new Lane(server.open, 0, clock, () => undefined);
  const results = Array.from({ length: 100 }, (_, number) => lane.add(operationOf("kept", number)));
  for (let round = 0; round < 1_000; round += 1) {
    await tick();
    clock.advance(RETRY_MS / 2);
  }
  expect(server.written).toHaveLength(100);
  await Promise.all(results);
  await lane.close();
});

it("Lane retries at once after a conflict with another transaction, and does not count as unavailable", async () => {
  const server = new ScriptedServer(["done", "lost_to_another", "lost_to_another"]);
  const clock = new ManualClock();
  const faults: (string | null)[] = [];
  const lane: Lane = new Lane(server.open, 0, clock, () => faults.push(lane.fault));
  expect(await lane.add(operationOf("asked", 0))).toBe(0);
  expect(faults).toEqual([]);
  await lane.close();
});
