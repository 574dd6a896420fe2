import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { imageFetcher } from "../../../coordinator/jobs/fetch-images.ts";
import { MAX_IMAGES, MAX_IMAGES_BYTES } from "../../../shared/chat-images.ts";
import { ValidationError } from "../../../shared/errors.ts";
import { encodePng } from "../../support/models/test-images.ts";

const PNG = encodePng(8, 8, []);
const PNG_URL = `data:image/png;base64,${PNG.toString("base64")}`;
const opened: (() => void)[] = [];

afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** Starts a server with a name that has a public form. Returns its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://images.example:${(server.address() as AddressInfo).port}`;
}

const toLoopback = async () => [{ address: "127.0.0.1", family: 4 as const }];
const fetcher = (allowPrivate = true) => imageFetcher(allowPrivate, toLoopback);
const inputOf = (...urls: readonly string[]) => {
  const content = urls.map((url) => ({ type: "image_url", image_url: { url } }));
  const input = { messages: [{ role: "user", content }] };
  return { input, inputJson: JSON.stringify(input), root: "input" };
};

async function detailsOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ValidationError)) throw error;
  return error.details;
}
const FIELD = "input.messages.0.content.0.image_url.url";

describe("imageFetcher()", () => {
  it("replaces addresses by data URLs, in the input and in its JSON", async () => {
    const url = await serve((_request, response) => response.end(PNG));
    const [filled] = await fetcher()("acc_1", [inputOf(PNG_URL, `${url}/b.png`)]);
    expect(filled).toMatchObject(inputOf(PNG_URL, PNG_URL));
  });
  it("returns inputs without addresses as they are", async () => {
    const inputs = [inputOf(PNG_URL)];
    expect(await fetcher()("acc_1", inputs)).toBe(inputs);
  });
  it.each([
    ["a literal", "https://127.0.0.1:1/a.png"],
    ["a name", "https://images.example/a.png"],
    ["cloud metadata", "https://169.254.169.254/latest"],
  ])("refuses a private address: %s", async (_form, url) => {
    const [detail] = await detailsOf(fetcher(false)("acc_1", [inputOf(url)]));
    expect(detail).toMatchObject({ path: FIELD, message: expect.stringMatching(/private address$/) as string });
  });
  it("refuses http unless private addresses are allowed", async () => {
    const [detail] = await detailsOf(fetcher(false)("acc_1", [inputOf("http://images.example/a.png")]));
    expect(detail?.message).toBe("could not be downloaded: the URL must be an https URL");
  });
  it("does not follow a redirect, for example to a private address", async () => {
    let asked = 0;
    const inside = await serve((_request, response) => {
      asked += 1;
      response.end(PNG);
    });
    const url = await serve((_request, response) => response.writeHead(302, { location: inside }).end());
    const [detail] = await detailsOf(fetcher()("acc_1", [inputOf(url)]));
    expect(detail).toEqual({
      path: FIELD,
      message: "could not be downloaded: the server redirects (302); send the address to which it redirects",
    });
    expect(asked).toBe(0);
  });
  it.each<[string, RequestListener, RegExp]>([
    ["another status", (_request, response) => response.writeHead(404).end(), /responded with status 404$/],
    ["no image", (_request, response) => response.end("<html>"), /^must be a PNG, JPEG, WebP or GIF image/],
    [
      "a cut body",
      (_request, response) => response.writeHead(200, { "content-length": 9 }).write("a", () => response.destroy()),
      /the connection failed/,
    ],
    [
      "too many bytes",
      (_request, response) => response.end(Buffer.alloc(MAX_IMAGES_BYTES + 1)),
      /larger than 3\.0 MiB together$/,
    ],
    [
      "no end of bytes",
      (_request, response) => void Readable.from(endless()).pipe(response),
      /larger than 3\.0 MiB together$/,
    ],
    [
      "another protocol",
      (request) =>
        request.socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
      /the server changed the protocol$/,
    ],
  ])("refuses %s", async (_what, listener, message) => {
    const url = await serve(listener);
    const [detail] = await detailsOf(fetcher()("acc_1", [inputOf(url)]));
    expect(detail?.path).toBe(FIELD);
    expect(detail?.message).toMatch(message);
  });
  it("limits the images of all inputs together by their size", async () => {
    const half = Buffer.concat([PNG, Buffer.alloc(MAX_IMAGES_BYTES / 2)]);
    const url = await serve((_request, response) => response.end(half));
    const [detail] = await detailsOf(fetcher()("acc_1", [inputOf(url), { ...inputOf(url), root: "inputs.1" }]));
    expect(detail?.path).toBe(FIELD.replace("input", "inputs.1"));
  });
  it("limits the images of all inputs together by their number", async () => {
    const urls = Array.from({ length: MAX_IMAGES + 1 }, () => "https://images.example/a.png");
    const [detail] = await detailsOf(fetcher()("acc_1", [inputOf(...urls)]));
    expect(detail?.message).toMatch(/^is one of 17 images; at most 16/);
  });
  it("gives up a server that stalls, and refuses a fifth submission of the account", { timeout: 20_000 }, async () => {
    const url = await serve((_request, response) => response.writeHead(200).write("a"));
    const fetchImages = fetcher();
    const stalled = Array.from({ length: 4 }, () => detailsOf(fetchImages("acc_1", [inputOf(url)])));
    await expect(fetchImages("acc_1", [inputOf(url)])).rejects.toMatchObject({ code: "rate_limited" });
    expect((await Promise.all(stalled)).map(([detail]) => detail?.message)).toEqual(
      Array.from({ length: 4 }, () => "could not be downloaded: it took longer than 10 s"),
    );
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}
