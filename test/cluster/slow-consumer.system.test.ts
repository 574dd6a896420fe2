import { connect } from "@nats-io/transport-node";
import { pack } from "msgpackr";
import { describe, expect, it } from "vitest";
import { Cluster } from "../support/network/cluster.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/http/http.ts";
import { followAnywhere, jobAt, running, submitWords } from "./requests.ts";
import { WordIsland } from "./word-island.ts";
import { wordsText } from "./word-runtime.ts";

const WORDS = 500;

describe("a coordinator that NATS disconnects as a slow consumer", () => {
  it("reconnects, and its streams continue from a snapshot without gap or repeat", async () => {
    const monitorPort = await freePort();
    // The server buffers little for a reader, and waits only a short time.
    const natsConfig = `write_deadline: "100ms"\nmax_pending: 4MB\nhttp: "127.0.0.1:${monitorPort}"\n`;
    await using cluster = await Cluster.open({ natsConfig });
    const client = cluster.createAccount("client@example.com");
    const owner = cluster.createAccount("owner@example.com", 0);
    const [reader, other] = [cluster.at(0), cluster.at(1)];
    await using _island = await WordIsland.open({ urls: [other.islands.url], owner });
    const jobId = await submitWords(other.url, client.key, WORDS, 40);
    await running(reader.url, client.key, jobId);
    const followed = followAnywhere(() => reader.url, client.key, jobId);
    const elsewhere = followAnywhere(() => cluster.at(2).url, client.key, jobId);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const readerId = await cluster.read<string>(`SELECT id FROM coordinators WHERE address = '${reader.islands.url}'`);
    const dropped = async (): Promise<number> =>
      ((await (await fetch(`http://127.0.0.1:${monitorPort}/varz`)).json()) as { slow_consumers: number })
        .slow_consumers;
    expect(await dropped()).toBe(0);
    reader.freeze();
    const flooding = await connect({ servers: cluster.nats.address });
    const padding = Buffer.alloc(500_000);
    await until(
      async () => {
        // Unknown streams and fields are ignored.
        flooding.publish(`atoll.2.stream.${readerId}`, pack([readerId, [[1_000_000, 0, padding]]]));
        flooding.publish("atoll.2.moved", pack([readerId, { jobIds: [], padding }]));
        await flooding.flush();
        return dropped();
      },
      (count) => count >= 2,
      "NATS dropped both connections",
    );
    await flooding.close();
    reader.thaw();
    expect(await jobAt(other.url, client.key, jobId)).toMatchObject({ status: "running" });
    expect(await followed).toMatchObject({ text: wordsText(WORDS), endings: ["done"], positionsLost: 0 });
    expect(await elsewhere).toMatchObject({ text: wordsText(WORDS), connections: 1 });
    expect(await dropped()).toBe(2);
    expect(reader.isUp).toBe(true);
    // The bus works again in both directions.
    const next = await submitWords(reader.url, client.key, 20, 5);
    expect(await followAnywhere(() => other.url, client.key, next)).toMatchObject({ text: wordsText(20) });
  });
});
