import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputLines } from "../../../../../island-agent/execution/input-lines.ts";
import type { RunResult } from "../../../../../island-agent/runtimes/runtime.ts";
import type { OutputItem } from "../../../../../shared/output.ts";
import type { TestEngine } from "../../../../support/container-engine.ts";
import { ContainerWorld, makeCargo, NEVER } from "./container-support.ts";

/** Answers each line with itself, and says at the end of its input how many there were. */
const ECHO = `
count=0
read -r job
while read -r line; do
  count=$((count + 1))
  echo "{\\"type\\":\\"token\\",\\"content\\":$line}"
done
echo "{\\"type\\":\\"done\\",\\"output\\":$count}"`;

interface Session {
  readonly lines: InputLines;
  readonly items: OutputItem[];
  /** Numbers that were taken, in order. */
  readonly taken: number[];
  readonly result: Promise<RunResult>;
}

/** Jobs that are sent lines while they run. */
export function describeInteractive(engine: () => TestEngine): void {
  let world: ContainerWorld;
  beforeAll(async () => {
    world = await ContainerWorld.open(engine());
  });
  afterAll(() => world.close());

  async function begin(script: string, signal: AbortSignal = NEVER): Promise<Session> {
    const loaded = await world.load(makeCargo(script, { interactive: true }));
    const taken: number[] = [];
    const items: OutputItem[] = [];
    const lines = new InputLines((seq) => taken.push(seq));
    const result = loaded.run({ input: {}, resume: null, lines }, (item) => items.push(item), signal);
    result.catch(() => undefined);
    return { lines, items, taken, result };
  }
  const texts = ({ items }: Session): unknown[] => items.map((item) => (item.type === "token" ? item.content : item));

  describe("an interactive container", () => {
    it("answers each line while its input stays open, and ends with its input", async () => {
      const session = await begin(ECHO);
      session.lines.push({ seq: 1, line: '"one"' });
      await expect.poll(() => texts(session)).toEqual(["one"]);
      session.lines.push({ seq: 2, line: '"zwei 🏝"' });
      session.lines.push({ seq: 3, line: '"three"' });
      await expect.poll(() => texts(session)).toEqual(["one", "zwei 🏝", "three"]);
      session.lines.push({ seq: 4, line: undefined });
      expect(await session.result).toMatchObject({ output: 3, usage: { completionTokens: 3 } });
      expect(session.taken).toEqual([1, 2, 3, 4]);
      expect(session.lines.held).toEqual({ received: 4, taken: 4, hasEnd: true });
    });

    it("is killed in mid-session when the run is given up", async () => {
      const stop = new AbortController();
      const session = await begin(ECHO, stop.signal);
      session.lines.push({ seq: 1, line: '"one"' });
      await expect.poll(() => texts(session)).toEqual(["one"]);
      stop.abort(new Error("cancelled"));
      await expect(session.result).rejects.toThrow("cancelled");
      session.lines.push({ seq: 2, line: '"two"' });
      await sleep(50);
      expect(texts(session)).toEqual(["one"]);
    });

    it("takes no more than its pipe holds while its program does not read, and all of it afterwards", async () => {
      const session = await begin(`
        read -r job; sleep 3; wc -c > /tmp/bytes
        echo "{\\"type\\":\\"done\\",\\"output\\":$(cat /tmp/bytes)}"`);
      const line = JSON.stringify("x".repeat(200_000));
      for (let seq = 1; seq <= 5; seq += 1) session.lines.push({ seq, line });
      await sleep(500);
      expect(session.taken.length).toBeLessThan(5);
      session.lines.push({ seq: 6, line: undefined });
      expect(await session.result).toMatchObject({ output: 5 * (line.length + 1) });
      expect(session.taken).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it("fails as any other when its program ends in mid-session, with lines on their way", async () => {
      const session = await begin("read -r job; read -r line; echo bye >&2; exit 3");
      for (let seq = 1; seq <= 3; seq += 1) session.lines.push({ seq, line: '"x"' });
      await expect(session.result).rejects.toMatchObject({
        code: "cargo_failed",
        message: expect.stringContaining("exit code 3"),
      });
    });

    it("may be done before its input ends", async () => {
      const session = await begin(`read -r job; read -r line; echo '{"type":"done","output":"enough"}'; sleep 1000`);
      session.lines.push({ seq: 1, line: "1" });
      expect(await session.result).toMatchObject({ output: "enough" });
    });
  });
}
