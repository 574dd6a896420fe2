import { describe, expect, it } from "vitest";
import { promptCaches } from "../../../coordinator/scheduler/prompt-caches.ts";

/** Returns another number for each text of lower-case letters and digits. */
const hashOf = (text: string): number => Number.parseInt(text, 36);
/** Parts of a prompt such as "abc": one for each letter, of ten tokens. */
const partsOf = (letters: string) =>
  Array.from(letters).map((_, index) => ({ hash: hashOf(letters.slice(0, index + 1)), tokens: 10 * (index + 1) }));

describe("promptCaches()", () => {
  it("finds the longest start of a prompt on each Island", () => {
    const caches = promptCaches();
    caches.add("isle-1", "llama", partsOf("abc"), 4);
    caches.add("isle-2", "llama", partsOf("ax"), 4);
    const found = caches.find(partsOf("abcd"));
    expect(["isle-1", "isle-2", "isle-3"].map((id) => found.tokensOn(id))).toEqual([30, 10, 0]);
    expect(found.holders).toEqual(["isle-1"]);
    expect(caches.find(partsOf("b")).holders).toEqual([]);
  });

  it("counts the answer that follows a whole prompt", () => {
    const caches = promptCaches();
    caches.add("isle-1", "llama", partsOf("abc"), 4);
    const tokensOf = (letters: string, answered: string): number =>
      caches
        .find(partsOf(letters).map((part) => (part.hash === hashOf(answered) ? { ...part, withAnswer: 55 } : part)))
        .tokensOn("isle-1");
    expect(tokensOf("abcde", "abc")).toBe(55);
    expect(tokensOf("abcde", "ab")).toBe(30);
    expect(tokensOf("abx", "ab")).toBe(20);
  });

  it("finds an Island that has only a part of the longest known start", () => {
    const caches = promptCaches();
    caches.add("isle-1", "llama", partsOf("abcd"), 4);
    caches.add("isle-2", "llama", partsOf("abcdef"), 4);
    const found = caches.find(partsOf("abcdefg"));
    expect(["isle-1", "isle-2"].map((id) => found.tokensOn(id))).toEqual([40, 60]);
  });

  it("replaces a prompt by its continuation, and keeps two for each slot", () => {
    const caches = promptCaches();
    for (const prompt of ["a", "ab", "abc", "x"]) caches.add("isle-1", "llama", partsOf(prompt), 1);
    expect(caches.find(partsOf("abc")).tokensOn("isle-1")).toBe(30);
    caches.add("isle-1", "llama", partsOf("y"), 1);
    expect(caches.find(partsOf("abc")).tokensOn("isle-1")).toBe(0);
    expect(caches.find(partsOf("x")).tokensOn("isle-1")).toBe(10);
  });

  it("keeps fewer prompts after misses, and more after hits", () => {
    const caches = promptCaches();
    const kept = (): number =>
      ["a", "b", "c", "d"].filter((each) => caches.find(partsOf(each)).holders.length > 0).length;
    for (const prompt of ["a", "b", "c", "d"]) caches.add("isle-1", "llama", partsOf(prompt), 2);
    expect(kept()).toBe(4);
    caches.correct("isle-1", 100, 0);
    expect(kept()).toBe(3);
    for (let hit = 0; hit < 4; hit += 1) caches.correct("isle-1", 100, 100);
    caches.add("isle-1", "llama", partsOf("a"), 2);
    expect(kept()).toBe(4);
    // Without an expectation, a report changes nothing: an Island cannot claim a larger cache.
    for (let report = 0; report < 100; report += 1) caches.correct("isle-1", 0, 1e9);
    caches.add("isle-1", "llama", partsOf("e"), 2);
    expect(kept()).toBe(3);
  });

  it("expects nothing of an Island that never has a prompt in its cache", () => {
    const caches = promptCaches();
    for (const prompt of ["a", "b", "c"]) {
      caches.add("isle-1", "llama", partsOf(prompt), 1);
      caches.correct("isle-1", 100, 0);
    }
    expect(caches.find(partsOf("c")).tokensOn("isle-1")).toBe(0);
    caches.add("isle-1", "llama", partsOf("d"), 1);
    expect(caches.find(partsOf("d")).tokensOn("isle-1")).toBe(0);
  });

  it("forgets the prompts of an Island, or of one Cargo", () => {
    const caches = promptCaches();
    caches.add("isle-1", "llama", partsOf("a"), 4);
    caches.add("isle-1", "gemma", partsOf("b"), 4);
    caches.forget("isle-1", "llama");
    expect([caches.find(partsOf("a")), caches.find(partsOf("b"))].map(({ holders }) => holders.length)).toEqual([0, 1]);
    caches.forget("isle-1");
    expect(caches.find(partsOf("b")).holders).toEqual([]);
  });

  it("keeps at most 40,000 prompts, or one for each Island", () => {
    const caches = promptCaches();
    const parts = (text: string) => [{ hash: hashOf(text), tokens: 10 }];
    for (const prompt of ["p0", "q0", "r0"]) caches.add("isle-0", "llama", parts(prompt), 4);
    const isFound = (hash: string): boolean => caches.find(parts(hash)).holders.length > 0;
    expect(["p0", "q0", "r0"].map(isFound)).toEqual([true, true, true]);
    for (let island = 1; island <= 40_000; island += 1) {
      caches.add(`isle-${island}`, "llama", parts(`p${island}`), 4);
    }
    caches.add("isle-0", "llama", parts("s0"), 4);
    expect(["p0", "q0", "r0", "s0"].map(isFound)).toEqual([false, false, false, true]);
  });
});
