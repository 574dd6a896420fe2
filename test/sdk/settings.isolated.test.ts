import { afterEach, describe, expect, it, vi } from "vitest";
import { Atoll, ConfigurationError } from "../../sdk/typescript/src/index.ts";
import { resolveSettings } from "../../sdk/typescript/src/settings.ts";

afterEach(() => vi.unstubAllEnvs());
const URL_OF = { baseUrl: "https://atoll.example" };

describe("resolveSettings()", () => {
  it.each([
    ["https://atoll.example", "https://atoll.example/api/v1"],
    ["https://atoll.example/", "https://atoll.example/api/v1"],
    ["https://atoll.example/api/v1/", "https://atoll.example/api/v1"],
    ["http://localhost:8080/behind/proxy", "http://localhost:8080/behind/proxy/api/v1"],
  ])("resolves %s to %s", (baseUrl, apiUrl) => {
    expect(resolveSettings({ baseUrl }).apiUrl).toBe(apiUrl);
  });

  it("reads address and key from options, then from the environment", () => {
    vi.stubEnv("ATOLL_BASE_URL", "https://env.example");
    vi.stubEnv("ATOLL_API_KEY", "ak_env");
    expect(resolveSettings({})).toMatchObject({ apiUrl: "https://env.example/api/v1", apiKey: "ak_env" });
    expect(resolveSettings({ ...URL_OF, apiKey: "ak_own" })).toMatchObject({
      apiUrl: "https://atoll.example/api/v1",
      apiKey: "ak_own",
    });
  });

  it("works without a key, for public endpoints", () => {
    vi.stubEnv("ATOLL_API_KEY", "");
    expect(resolveSettings(URL_OF).apiKey).toBeNull();
  });

  it("has no key if the session is in a cookie", () => {
    vi.stubEnv("ATOLL_API_KEY", "ak_env");
    expect(resolveSettings({ ...URL_OF, session: "cookie", apiKey: "ak_own" })).toMatchObject({
      apiKey: null,
      hasCookie: true,
    });
  });

  it.each(["", "atoll.example", "ftp://atoll.example"])("rejects the address %j", (baseUrl) => {
    vi.stubEnv("ATOLL_BASE_URL", undefined);
    expect(() => new Atoll({ baseUrl })).toThrow(ConfigurationError);
  });

  it("works without a global process", () => {
    vi.stubGlobal("process", undefined);
    try {
      expect(resolveSettings(URL_OF).apiKey).toBeNull();
      expect(() => resolveSettings({})).toThrow(ConfigurationError);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
