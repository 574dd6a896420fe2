import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Link } from "../chaos/link.ts";
import { runInBrowser } from "../sdk/browser-page.ts";
import { Cluster } from "../support/network/cluster.ts";
import { submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

const WORDS = 500;

/**
 * Proxy that serves a page and adds the API key, which an EventSource cannot send. It forwards bytes, Last-Event-ID and
 * broken connections.
 */
async function openKeyProxy(target: string, key: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url, headers }, response) => {
    const options = { headers: { ...headers, authorization: `Bearer ${key}` }, agent: false } as const;
    const outgoing = get(new URL(url ?? "", target), options, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.on("close", () => upstream.complete || response.destroy()).pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The page reads the stream like any page, and never creates a second EventSource. */
const pageOf = (stream: string): string => `
  const source = new EventSource(${JSON.stringify(stream)});
  let [text, tokens, opened] = ["", 0, 0];
  source.addEventListener("open", () => (opened += 1));
  source.addEventListener("token", ({ data }) => {
    text += JSON.parse(data).content;
    tokens += 1;
    if (tokens % 100 === 0) notify(tokens);
  });
  const end = (type) => (source.close(), report({ text, opened, type }));
  source.addEventListener("done", () => end("done"));
  source.addEventListener("error", ({ data }) => {
    if (data !== undefined) end(data);
    else if (source.readyState === EventSource.CLOSED) end("given up");
  });`;

describe("a browser's EventSource at the load balancer's address", () => {
  it("gets every token once while the coordinators behind it are killed", async () => {
    await using cluster = await Cluster.open();
    const client = cluster.createAccount("client@example.com");
    const owner = cluster.createAccount("owner@example.com", 0);
    // All connections go to one coordinator until it dies.
    await using balancer = await Link.open(() => (cluster.members.find(({ isUp }) => isUp) ?? cluster.at(0)).port);
    await using proxy = await openKeyProxy(balancer.url, client.key);
    await using _island = await WordIsland.open({ urls: cluster.islandUrls(0), owner });
    const jobId = await submitWords(balancer.url, client.key, WORDS, 40);
    const files = await mkdtemp(join(tmpdir(), "atoll-page-"));
    const killed: number[] = [];
    try {
      await mkdir(join(files, "profile"));
      const page = pageOf(`${proxy.url}/api/v1/jobs/${jobId}/stream`);
      const result = await runInBrowser(page, files, join(files, "profile"), (tokens) => {
        // The first coordinator has the job, its Island and the stream. The second one takes over all three.
        const victim = tokens === 100 ? 0 : tokens === 300 ? 1 : null;
        if (victim === null) return;
        killed.push(victim);
        void cluster.at(victim).end("SIGKILL");
      });
      expect(result).toEqual({ text: wordsText(WORDS), opened: 3, type: "done" });
      expect(killed).toEqual([0, 1]);
    } finally {
      await rm(files, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
