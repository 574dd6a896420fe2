import { describe, expect, it } from "vitest";
import { resolveFetchPolicy, type FetchOptions } from "../../../../island-agent/models/download/fetch-policy.ts";
import { assertMayFetch, requestModel } from "../../../../island-agent/models/download/model-request.ts";
import { FileServer, redirect, status } from "../file-server.ts";
import { failureOf, NEVER } from "../store-fixture.ts";

describe("requestModel()", () => {
  const get = (url: string, options: FetchOptions = {}): Promise<unknown> =>
    requestModel(new URL(url), {}, resolveFetchPolicy(options), NEVER);

  it.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
  ])("refuses the private literal %s without connecting", async (url) => {
    expect(await failureOf(get(url))).toMatchObject({ code: "model_unavailable", retryable: true });
  });

  it("refuses a host name that resolves to loopback", async () => {
    await using server = await FileServer.start();
    const error = await failureOf(get(`https://localhost:${server.port}/`));
    expect(error.message).toMatch(/host localhost \((127\.0\.0\.1|::1)\) is private/);
  });

  it("refuses a host name with one private address among public ones", async () => {
    const resolveHost = async () => [
      { address: "1.1.1.1", family: 4 as const },
      { address: "10.0.0.1", family: 4 as const },
    ];
    const error = await failureOf(get("https://files.example/", { resolveHost }));
    expect(error.message).toContain("host files.example (10.0.0.1) is private");
  });

  it("refuses a redirect of the coordinator to another private origin", async () => {
    await using coordinator = await FileServer.start();
    await using other = await FileServer.start();
    coordinator.on("/models/a", redirect(`https://127.0.0.1:${other.port}/a`));
    const error = await failureOf(get(`${coordinator.url}/models/a`, { coordinatorUrl: coordinator.url }));
    expect(error.message).toContain("address 127.0.0.1 is private");
    expect(other.requests).toHaveLength(0);
  });

  it("downloads a coordinator's file from the current address of the network's coordinator", async () => {
    await using first = await FileServer.start();
    await using present = await FileServer.start();
    present.on("/atoll/models/a", status(200));
    const options = { coordinatorUrl: first.url, currentCoordinatorUrl: () => `${present.url}/atoll` };
    expect(await get(`${first.url}/models/a`, options)).toMatchObject({ status: 200 });
    expect(first.requests).toHaveLength(0);
  });

  it("lets the owner allow private addresses", async () => {
    await using server = await FileServer.start();
    const error = await failureOf(get(`https://localhost:${server.port}/`, { allowPrivateAddresses: true }));
    // The server speaks no TLS, so an error shows that it was reached.
    expect(error.code).not.toBe("model_unavailable");
  });

  it("follows five redirects but not a sixth", async () => {
    await using server = await FileServer.start();
    for (let hop = 0; hop < 9; hop += 1) server.on(`/${hop}`, redirect(`/${hop + 1}`));
    server.on("/9", status(200));
    const options = { coordinatorUrl: server.url };
    expect(await get(`${server.url}/4`, options)).toMatchObject({ status: 200 });
    expect((await failureOf(get(`${server.url}/3`, options))).message).toContain("more than 5 times");
  });

  it("sends the token only to the hub, and not after a hop to another server", async () => {
    await using hub = await FileServer.start();
    await using other = await FileServer.start();
    hub.on("/a", redirect("/b"));
    hub.on("/b", redirect(`${other.url}/c`));
    other.on("/c", redirect(`${hub.url}/d`));
    hub.on("/d", status(200));
    await get(`${hub.url}/a`, { hubEndpoint: hub.url, hubToken: "hf_secret", coordinatorUrl: other.url });
    expect(hub.requests.map(({ authorization }) => authorization)).toEqual([
      "Bearer hf_secret",
      "Bearer hf_secret",
      null,
    ]);
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([null]);
  });
});

describe("assertMayFetch()", () => {
  const policy = resolveFetchPolicy({ coordinatorUrl: "http://10.0.0.1:4000", allowPrivateAddresses: true });

  it("refuses http except to the coordinator, even if private addresses are allowed", () => {
    expect(() => assertMayFetch(new URL("http://files.example/a?sig=1"), policy)).toThrow(
      "http://files.example/a does not use https",
    );
    expect(() => assertMayFetch(new URL("http://10.0.0.1:4000/a"), policy)).not.toThrow();
  });
});
