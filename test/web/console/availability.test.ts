import { describe, expect, it } from "vitest";
import { describeAvailability, mostAvailable } from "../../../web/src/pages/client/playground/availability.ts";

const KNOWN = new Map(
  [
    { slug: "busy", islands: 2, ready: 2, free: 0 },
    { slug: "cold", islands: 3, ready: 0, free: 3 },
    { slug: "warm", islands: 3, ready: 1, free: 2 },
  ].map((cargo) => [cargo.slug, cargo]),
);

describe("availability", () => {
  it.each([
    ["none", "no Island can run it now"],
    ["busy", "on 2 Islands, all busy"],
    ["cold", "on 3 Islands, after a download"],
    ["warm", "ready on 1 Island"],
  ])("of %s is said in words", (slug, text) => expect(describeAvailability(KNOWN, slug)?.text).toBe(text));

  it("is not guessed before it is known", () => expect(describeAvailability(null, "warm")).toBeNull());

  it("chooses what answers at once, then what can run, then the first", () => {
    const pick = (...slugs: string[]) =>
      mostAvailable(
        slugs.map((slug) => ({ slug })),
        KNOWN,
      )?.slug;
    expect(pick("none", "cold", "warm")).toBe("warm");
    expect(pick("none", "cold")).toBe("cold");
    expect(pick("none", "other")).toBe("none");
    expect(pick()).toBeUndefined();
  });
});
