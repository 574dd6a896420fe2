import { describe, expect, it } from "vitest";
import { SequencePool } from "../../../../island-agent/runtimes/llmcpp/sequence-pool.ts";

const NEVER = new AbortController().signal;

class FakeSequence {
  readonly name: string;
  readonly cached: string;
  constructor(name: string, cached: string) {
    this.name = name;
    this.cached = cached;
  }
  get nextTokenIndex(): number {
    return this.cached.length;
  }
  compareContextTokens(tokens: string): { firstDifferentIndex: number } {
    let index = 0;
    while (index < tokens.length && tokens[index] === this.cached[index]) index++;
    return { firstDifferentIndex: index };
  }
}

function makePool(...cached: string[]): SequencePool<string, FakeSequence> {
  return new SequencePool(cached.map((text, index) => new FakeSequence(`s${index}`, text)));
}

describe("SequencePool", () => {
  it("gives a follow-up turn the sequence of its conversation", async () => {
    const pool = makePool("", "system:hello", "system:other");
    expect((await pool.acquire("system:hello again", NEVER)).name).toBe("s1");
  });

  it("does not give a stranger with the same beginning the sequence of a long conversation", async () => {
    const pool = makePool("sys:a long conversation", "");
    expect((await pool.acquire("sys:new", NEVER)).name).toBe("s1");
  });

  it("gives the lowest of equals", async () => {
    const pool = makePool("", "", "");
    expect((await pool.acquire("a", NEVER)).name).toBe("s0");
    expect((await pool.acquire("a", NEVER)).name).toBe("s1");
  });

  it("serves those who wait in the order in which they came", async () => {
    const pool = makePool("");
    const sequence = await pool.acquire("a", NEVER);
    const order: string[] = [];
    const waiting = ["b", "c"].map((tokens) =>
      pool.acquire(tokens, NEVER).then((taken) => {
        order.push(tokens);
        pool.release(taken);
      }),
    );
    pool.release(sequence);
    await Promise.all(waiting);
    expect(order).toEqual(["b", "c"]);
  });

  it("passes over one who was aborted while it waited", async () => {
    const pool = makePool("");
    const sequence = await pool.acquire("a", NEVER);
    const controller = new AbortController();
    const aborted = pool.acquire("b", controller.signal);
    const next = pool.acquire("c", NEVER);
    controller.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    pool.release(sequence);
    expect((await next).name).toBe("s0");
  });
});
