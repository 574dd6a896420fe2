import { describe, expect, it } from "vitest";
import { SequencePool } from "../../../../island-agent/runtimes/llmcpp/sequence-pool.ts";

const NEVER = new AbortController().signal;

class FakeSequence {
  readonly name: string;
  cached: string;
  constructor(name: string, cached: string) {
    this.name = name;
    this.cached = cached;
  }
  get nextTokenIndex(): number {
    return this.cached.length;
  }
  async clearHistory(): Promise<void> {
    this.cached = "";
  }
  compareContextTokens(tokens: string): { firstDifferentIndex: number } {
    let index = 0;
    while (index < tokens.length && tokens[index] === this.cached[index]) index++;
    return { firstDifferentIndex: index };
  }
}

/** A pool whose sequences were last used by "me", and cache these texts. */
async function makePool(...cached: string[]): Promise<SequencePool<string, FakeSequence>> {
  const pool = new SequencePool<string, FakeSequence>(cached.map((_, index) => new FakeSequence(`s${index}`, "")));
  const used = await Promise.all(cached.map(() => pool.acquire("", "me", NEVER)));
  for (const [index, sequence] of used.entries()) {
    sequence.cached = cached[index] ?? "";
    pool.release(sequence);
  }
  return pool;
}
describe("SequencePool", () => {
  it("returns the sequence of the conversation for its next turn", async () => {
    const pool = await makePool("", "system:hello", "system:other");
    expect((await pool.acquire("system:hello again", "me", NEVER)).name).toBe("s1");
  });

  it("does not return the sequence of a long conversation for another one with the same beginning", async () => {
    const pool = await makePool("sys:a long conversation", "");
    expect((await pool.acquire("sys:new", "me", NEVER)).name).toBe("s1");
  });

  it("returns the first of equal sequences", async () => {
    const pool = await makePool("", "", "");
    expect((await pool.acquire("a", "me", NEVER)).name).toBe("s0");
    expect((await pool.acquire("a", "me", NEVER)).name).toBe("s1");
  });

  it("serves waiting runs in order of arrival", async () => {
    const pool = await makePool("");
    const sequence = await pool.acquire("a", "me", NEVER);
    const order: string[] = [];
    const waiting = ["b", "c"].map((tokens) =>
      pool.acquire(tokens, "me", NEVER).then((taken) => {
        order.push(tokens);
        pool.release(taken);
      }),
    );
    pool.release(sequence);
    await Promise.all(waiting);
    expect(order).toEqual(["b", "c"]);
  });

  it("skips a waiting run that was aborted", async () => {
    const pool = await makePool("");
    const sequence = await pool.acquire("a", "me", NEVER);
    const controller = new AbortController();
    const aborted = pool.acquire("b", "me", controller.signal);
    const next = pool.acquire("c", "me", NEVER);
    controller.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    pool.release(sequence);
    expect((await next).name).toBe("s0");
  });

  it.each([
    ["another key", "you"],
    ["no key", undefined],
  ])("returns an empty sequence to a run with %s, for a cached prompt as for any other", async (_, key) => {
    const pool = await makePool("", "a secret prompt", "abcdefghijklmno");
    const taken: string[] = [];
    for (const prompt of ["a secret prompt, and more", "something else entirely.."]) {
      const sequences = await Promise.all([1, 2, 3].map(() => pool.acquire(prompt, key, NEVER)));
      taken.push(sequences.map(({ name, cached }) => `${name}:${cached}`).join());
      for (const sequence of sequences) pool.release(sequence);
    }
    expect(taken).toEqual(["s0:,s1:,s2:", "s0:,s1:,s2:"]);
  });

  it("does not share the cache between runs without a key", async () => {
    const pool = await makePool("");
    const first = await pool.acquire("a prompt", undefined, NEVER);
    first.cached = "a prompt";
    pool.release(first);
    expect((await pool.acquire("a prompt", undefined, NEVER)).cached).toBe("");
  });
});
