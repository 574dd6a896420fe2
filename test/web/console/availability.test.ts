import { describe, expect, it } from "vitest";
import { describeAvailability, mostAvailable } from "../../../web/src/pages/client/playground/availability.ts";

const KNOWN = new Map(
  [
    { slug: "busy", islands: 2, ready: 2, free: 0 },
    { slug: "cold", islands: 3, ready: 0, free: 3 },
    { slug: "warm", islands: 3, ready: 1, free: 2 },
  ].map((cargo) => [cargo.slug, cargo]),
);

describe("describeAvailability and mostAvailable", () => {
  it.each([
    ["none", "no Island available"],
    ["busy", "on 2 Islands, all busy"],
    ["cold", "on 3 Islands, needs a download"],
    ["warm", "ready on 1 Island"],
  ])("describe the Cargo %s in words", (slug, text) => expect(describeAvailability(KNOWN, slug)?.text).toBe(text));

  it("return no description before the availability is known", () =>
    expect(describeAvailability(null, "warm")).toBeNull());

  it("prefer a Cargo that can run at once, then one that can run, then the first", () => {
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
