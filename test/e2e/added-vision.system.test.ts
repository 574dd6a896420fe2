import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { call, until } from "../support/http/http.ts";
import { splitGguf } from "../support/models/split-gguf.ts";
import { encodePng } from "../support/models/test-images.ts";
import { makeTinyProjector } from "../support/models/tiny-projector.ts";
import { Network } from "../support/network/network.ts";
import { HubServer } from "../support/servers/hub-server.ts";
import { llamaServerCommand, TINY_CHAT_MODEL } from "../support/servers/llama-server.ts";

const COMMAND = `${llamaServerCommand()} -m {model} --host {socket} -np {slots} -c {context} --threads 1`;

let hub: HubServer;
let network: Network;
beforeAll(async () => {
  hub = await HubServer.start();
  // Islands download only from https addresses, and from the hub that their owner set.
  hub.hasCdn = false;
  network = await Network.open();
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await hub[Symbol.asyncDispose]();
});

it("a split model with its projector, added with one command, reads images of the openai client", async () => {
  const [first, second] = await splitGguf(readFileSync(TINY_CHAT_MODEL), 2);
  hub.put("maker/vision-GGUF", {
    "tiny-Q4_K_M-00001-of-00002.gguf": first ?? Buffer.alloc(0),
    "tiny-Q4_K_M-00002-of-00002.gguf": second ?? Buffer.alloc(0),
    "mmproj-F16.gguf": Buffer.from(await makeTinyProjector()),
  });
  const account = network.createAccount("host@example.com");
  await network.startIsland("island", account.islandToken, {
    "models.hub_endpoint": hub.url,
    "engines.command": COMMAND,
  });
  const flags = ["--hub", hub.url, "--allow-private", "--context", "1024"];
  const { slug } = await network.manage<{ slug: string }>("cargo", "add", "hf.co/maker/vision-GGUF", ...flags);
  await until(
    () => call(network.url, null, "GET", `/cargos/${slug}`),
    ({ status }) => status === 200,
    "the Cargo is offered",
  );
  const { key } = network.createAccount("client@example.com");
  const openai = new OpenAI({ apiKey: key, baseURL: `${network.url}/api/v1`, maxRetries: 0 });
  const answers: (string | null | undefined)[] = [];
  for (const colour of ["red", "green"] as const) {
    const png = encodePng(32, 32, [{ colour, left: 0, top: 0, right: 32, bottom: 32 }]);
    const url = `data:image/png;base64,${png.toString("base64")}`;
    const { choices } = await openai.chat.completions.create({
      model: slug,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
      temperature: 0,
      max_tokens: 16,
    });
    answers.push(choices[0]?.message.content);
  }
  expect(answers).toEqual([expect.stringMatching(/^Every morning/), "I am well, thank you. The sea is calm today."]);
});
