import { describe, expect, it } from "vitest";
import { sessionUrl } from "../../../island-agent/session/coordinator-link.ts";

describe("sessionUrl()", () => {
  it.each([
    ["https://host.example", "wss://host.example/api/v1/island/session"],
    ["https://host.example/", "wss://host.example/api/v1/island/session"],
    ["http://localhost:8080", "ws://localhost:8080/api/v1/island/session"],
    ["https://host.example/prefix", "wss://host.example/prefix/api/v1/island/session"],
    ["https://host.example/a/b//", "wss://host.example/a/b/api/v1/island/session"],
    ["http://[::1]:8080/x?y=1#z", "ws://[::1]:8080/x/api/v1/island/session"],
  ])("returns for %s: %s", (url, wanted) => {
    expect(sessionUrl(url)).toBe(wanted);
  });
});
