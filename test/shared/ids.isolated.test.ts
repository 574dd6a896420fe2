import { afterEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../shared/ids.ts";

afterEach(() => vi.restoreAllMocks());

describe("newId()", () => {
  it("sorts by time and, within a millisecond, by creation", () => {
    const later = Date.UTC(2100, 0);
    const ids = [later, later, later + 1, later + 2].map((atMs) => newId("job", atMs));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every((id) => /^job_[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toBe(true);
  });

  it("is random in each of its last 16 characters, over more ids than one batch of random bytes serves", () => {
    const firstMs = Date.UTC(2101, 0);
    const ids = Array.from({ length: 600 }, (_, index) => newId("job", firstMs + index));
    expect(new Set(ids.map((id) => id.slice(-16))).size).toBe(ids.length);
    for (let at = 1; at <= 16; at += 1) expect(new Set(ids.map((id) => id.at(-at))).size).toBe(32);
  });

  it("draws random bytes for many ids at once, never one by one", () => {
    const drawn = vi.spyOn(globalThis.crypto, "getRandomValues");
    const firstMs = Date.UTC(2102, 0);
    for (let index = 0; index < 300; index += 1) newId("job", firstMs + index);
    expect(drawn).not.toHaveBeenCalled();
  });
});
