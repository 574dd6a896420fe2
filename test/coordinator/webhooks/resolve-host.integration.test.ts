import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postWebhook } from "../../../coordinator/webhooks/post-webhook.ts";
import { hostResolver, type ResolveHostUntil } from "../../../coordinator/webhooks/resolve-host.ts";
import { temporaryFolder } from "../store/contract/store-builders.ts";
import { NameServer } from "../../support/servers/name-server.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

let folder: ReturnType<typeof temporaryFolder>;
let server: NameServer;
let resolve: ResolveHostUntil;
const never = new AbortController().signal;

beforeEach(async () => {
  folder = temporaryFolder();
  server = await NameServer.start();
  const hostsFile = folder.file("hosts");
  await writeFile(hostsFile, "# ours\n10.0.0.7\tnas Nas.Office # the old one\n\nfd00::7 nas\nbad line\n");
  resolve = hostResolver([server.address], hostsFile);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

describe("hostResolver()", () => {
  it("returns all addresses of the name server, of both families", async () => {
    const ipv6 = Uint8Array.from({ length: 16 }, (_, index) => (index === 0 ? 0x20 : index === 15 ? 1 : 0));
    server.records.set("both.example", { ipv4: ["1.1.1.1", "1.0.0.1"], ipv6: [ipv6] });
    server.records.set("old.example", { ipv4: ["1.1.1.2"] });
    const both = await resolve("both.example", never);
    expect(both.map(({ address }) => address).toSorted()).toEqual(["1.0.0.1", "1.1.1.1", "2000::1"]);
    expect(both.filter(({ family }) => family === 6)).toEqual([{ address: "2000::1", family: 6 }]);
    expect(await resolve("Old.Example.", never)).toEqual([{ address: "1.1.1.2", family: 4 }]);
  });

  it("does not query name servers for localhost and for names in the hosts file", async () => {
    expect(await resolve("localhost", never)).toEqual(await resolve("app.localhost.", never));
    expect((await resolve("LOCALHOST", never)).map(({ address }) => address)).toEqual(["127.0.0.1", "::1"]);
    expect(await resolve("nas", never)).toEqual([
      { address: "10.0.0.7", family: 4 },
      { address: "fd00::7", family: 6 },
    ]);
    expect(await resolve("nas.office", never)).toEqual([{ address: "10.0.0.7", family: 4 }]);
    expect(server.requested).toEqual([]);
  });

  it("rejects an unknown name", async () => {
    await expect(resolve("gone.example", never)).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  it("resolves a name while other names are slow, and cancels queries on abort", async () => {
    const slow = Array.from({ length: 20 }, (_, index) => `slow-${index}.example`);
    for (const name of slow) server.silent.add(name);
    server.records.set("fast.example", { ipv4: ["1.1.1.1"] });
    const giveUp = new AbortController();
    let given = 0;
    const pending = slow.map((name) => resolve(name, giveUp.signal).finally(() => (given += 1)));
    const outcomes = Promise.allSettled(pending);
    await server.askedFor(slow);
    expect(await resolve("fast.example", never)).toHaveLength(1);
    expect(given).toBe(0);
    giveUp.abort();
    const codes = (await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason.code as string);
    expect(new Set(codes)).toEqual(new Set(["ECANCELLED"]));
    await expect(resolve("fast.example", giveUp.signal)).rejects.toThrow("aborted");
  });
});

describe("postWebhook() with hostResolver()", () => {
  const post = (url: string, allowPrivate: boolean, signal = never) =>
    postWebhook({ url, headers: {}, body: "{}", signal, allowPrivate, resolveHost: resolve });

  it("delivers to the address of the name server while other names are being resolved", async () => {
    await using receiver = await WebhookReceiver.start();
    server.silent.add("slow.example");
    server.records.set("fast.example", { ipv4: ["127.0.0.1"] });
    const giveUp = new AbortController();
    const slow = post("http://slow.example/", true, giveUp.signal);
    const slowFails = expect(slow).rejects.toThrow();
    await server.askedFor(["slow.example"]);
    expect(await post(`http://fast.example:${receiver.port}/`, true)).toBe(204);
    expect((await receiver.next()).headers["host"]).toBe(`fast.example:${receiver.port}`);
    giveUp.abort();
    await slowFails;
  });

  it("reaches localhost only if private addresses are allowed", async () => {
    await using receiver = await WebhookReceiver.start();
    expect(await post(`http://localhost:${receiver.port}/`, true)).toBe(204);
    server.records.set("rebound.example", { ipv4: ["1.1.1.1", "127.0.0.1"] });
    for (const host of ["localhost", "nas", "rebound.example"]) {
      await expect(post(`https://${host}:${receiver.port}/`, false)).rejects.toThrow(
        `the host ${host} has a private address`,
      );
    }
    expect(receiver.received).toHaveLength(1);
  });
});
