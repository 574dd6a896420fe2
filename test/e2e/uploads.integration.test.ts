import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { Atoll } from "../../sdk/typescript/src/index.ts";
import { freePort } from "../support/free-port.ts";
import { Network } from "../support/network.ts";
import { unlessSeveral } from "../support/several-coordinators.ts";

const PART_BYTES = 200_000;
const BYTES = Buffer.from(Array.from({ length: 1_100_000 }, (_, index) => (index * index) % 251));

it(
  ...unlessSeveral(
    "an upload goes on where it was when coordinator and client are killed in its middle",
    "the others take it",
  ),
  async () => {
    await using network = await Network.open(["--port", String(await freePort())]);
    const { key } = network.createAccount("uploads@example.com");
    const content = new Blob([BYTES]);
    const file = { content, filename: "a.bin", partBytes: PART_BYTES };
    const requests: string[] = [];
    const counted: typeof fetch = (address, init) => {
      const path = typeof address === "string" ? address.replace(/.*\/v1/, "").replace(/upload_\w+/, "ID") : "";
      requests.push(`${init?.method} ${path}`);
      return fetch(address, init);
    };
    const atoll = new Atoll({ baseUrl: network.url, apiKey: key, fetch: counted, maxRetries: 0 });
    let uploadId = "";
    const upload = atoll.files.uploadLarge({
      ...file,
      onUpload: (state) => {
        uploadId = state.uploadId;
        // With the third part on its way.
        if (state.sentBytes === 2 * PART_BYTES) setImmediate(() => network.coordinator.kill("SIGKILL"));
      },
    });
    await expect(upload).rejects.toMatchObject({ code: "connection" });
    await network.restartCoordinator("SIGKILL");
    requests.length = 0;
    const made = await atoll.files.uploadLarge({ ...file, uploadId });
    expect(made.sha256).toBe(createHash("sha256").update(BYTES).digest("hex"));
    // Two or three of six had arrived.
    const sent = requests.filter((request) => request === "POST /uploads/ID/parts").length;
    expect([3, 4]).toContain(sent);
    expect(Buffer.from(await (await atoll.files.content(made.id)).arrayBuffer()).equals(BYTES)).toBe(true);
    // Once more, as a client that missed the answer.
    expect(await atoll.files.uploadLarge({ ...file, uploadId })).toEqual(made);
  },
);
