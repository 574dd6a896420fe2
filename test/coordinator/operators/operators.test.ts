import { expect, it } from "vitest";
import { describeConfig, resolveConfig } from "../../../coordinator/config/resolve-config.ts";
import { settingsInForce } from "../../../coordinator/operators/operators.ts";

it("settingsInForce() shows a default as such, even if the file contains it", () => {
  const toml = { name: "atoll.toml", text: 'chat_wait_s = 60\nport = 9000\nhost = "127.0.0.1"\n' };
  const env = { ATOLL_MAX_ATTEMPTS: "3" };
  const { inForce } = resolveConfig({ flags: {}, env, toml, shippedCatalogDirectory: "." });
  const sourceOf = new Map(settingsInForce(describeConfig(), inForce).map(({ key, source }) => [key, source]));
  const sources = ["chat_wait_s", "host", "port", "max_attempts", "heartbeat_s"].map((key) => sourceOf.get(key));
  expect(sources).toEqual(["default", "default", "file", "environment", "default"]);
});
