import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readForm, type FormLimits } from "../../../../coordinator/http/multipart/read-form.ts";
import { errorResponse } from "../../../../coordinator/http/error-responses.ts";
import { listen, type Listener } from "../../../../coordinator/http/server/transport.ts";
import { CAN_MOUNT, SmallDisk } from "../../../support/small-disk.ts";
import { TEST_TRANSPORT } from "../../../support/transport.ts";
import { readToEnd } from "../api.ts";

const KIB = 1_024;
const LIMITS = { maxFields: 4, maxFieldBytes: 100, maxFiles: 2, maxFileBytes: 4 * KIB * KIB };
const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const HEAD = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=B\r\n";

describe(`forms, by ${TEST_TRANSPORT.transport}`, () => {
  let directory: string;
  let limits: FormLimits;
  let listener: Listener;
  let sockets: Socket[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-form-"));
    [limits, sockets] = [{ ...LIMITS, directory }, []];
    listener = await listen(
      (_request, { incoming }) =>
        handle(incoming).catch((error: unknown) => {
          const { status, body } = errorResponse(error, { requestId: "r", style: "plain" });
          return Response.json(body, { status });
        }),
      { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0 },
    );
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close(AbortSignal.abort());
    await rm(directory, { recursive: true, force: true });
  });

  async function handle(incoming: Parameters<typeof readForm>[0]): Promise<Response> {
    await using form = await readForm(incoming, limits);
    const files = await Promise.all(
      form.files.map(async ({ path, ...file }) => ({ ...file, stored: hashOf(await readFile(path)) })),
    );
    return Response.json({ fields: Object.fromEntries(form.fields), files });
  }

  const url = (): string => `http://127.0.0.1:${listener.port}/`;
  const left = (): Promise<string[]> => readdir(limits.directory ?? "");

  async function post(form: FormData) {
    const response = await fetch(url(), { method: "POST", body: form });
    return { status: response.status, body: await bodyOf(response) };
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
  const bodyOf = async (response: Response): Promise<any> => JSON.parse(await response.text());

  function formOf(...parts: [name: string, value: string | Blob, filename?: string][]): FormData {
    const form = new FormData();
    for (const [name, value, filename] of parts)
      if (typeof value === "string") form.append(name, value);
      else form.append(name, value, filename);
    return form;
  }

  async function open(): Promise<Socket> {
    const socket = connect(listener.port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }

  async function errorOf(form: FormData) {
    const { status, body } = await post(form);
    return [status, body.error.code, body.error.message];
  }

  it("are read as the official client sends them", async () => {
    const client = new OpenAI({ apiKey: "x", baseURL: url().slice(0, -1), maxRetries: 0 });
    const bytes = Buffer.alloc(3 * KIB * KIB, "sound of the sea ");
    const file = await toFile(bytes, "../sea.wav", { type: "audio/wav" });
    const created = client.post("/", { body: formOf(["purpose", "user_data"], ["file", file, "sea.wav"]) });
    expect(await created).toEqual({
      fields: { purpose: ["user_data"] },
      files: [
        {
          field: "file",
          filename: "sea.wav",
          contentType: "audio/wav",
          sizeBytes: bytes.length,
          sha256: hashOf(bytes),
          stored: hashOf(bytes),
        },
      ],
    });
    expect(await left()).toEqual([]);
  });

  it("keep the order of repeated fields, accept any script, and drop folders of file names", async () => {
    const file = new Blob(["a"], { type: "text/plain" });
    const { body } = await post(
      formOf(["at[]", "Ж"], ["at[]", ""], ["f", file, "a/../../b.txt"], ["g", file, "Ж.txt"]),
    );
    expect(body.fields).toEqual({ "at[]": ["Ж", ""] });
    expect(body.files.map(({ filename }: { filename: string }) => filename)).toEqual(["b.txt", "Ж.txt"]);
  });

  it("are limited in the number and size of fields and files, and leave nothing on disk", async () => {
    const blob = new Blob(["x"]);
    const large = new Blob([Buffer.alloc(LIMITS.maxFileBytes + 1)]);
    const most = new Blob([Buffer.alloc(LIMITS.maxFileBytes)]);
    expect((await post(formOf(["f", most, "f"], ["n", "v".repeat(100)]))).status).toBe(200);
    expect(await errorOf(formOf(["f", large, "f"]))).toEqual([413, "payload_too_large", expect.any(String)]);
    expect(await errorOf(formOf(["n", "v".repeat(101)]))).toEqual([
      422,
      "validation_failed",
      expect.stringContaining("n:"),
    ]);
    const many = ["1", "2", "3", "4", "5"].map((name): [string, string] => [name, ""]);
    expect((await errorOf(formOf(...many)))[2]).toBe("The form has more than 4 fields");
    expect((await errorOf(formOf(["a", blob, "a"], ["b", blob, "b"], ["c", blob, "c"])))[2]).toBe(
      "The form has more than 2 files",
    );
    expect((await errorOf(formOf(["n".repeat(101), "v"])))[2]).toContain("at most 100 characters");
    expect(await left()).toEqual([]);
  });

  it("are refused before they are read if their Content-Length is too large", async () => {
    const socket = await open();
    const response = readToEnd(socket);
    socket.write(`${HEAD}Content-Length: 100000000\r\nConnection: close\r\n\r\n--B`);
    expect(await response).toContain("payload_too_large");
  });

  it("are refused with 400 if they are not forms or end before their boundary", async () => {
    const json = await fetch(url(), { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    expect([json.status, (await bodyOf(json)).error.message]).toEqual([400, expect.stringContaining("must be a form")]);
    const bare = await fetch(url(), {
      method: "POST",
      body: "x",
      headers: { "content-type": "multipart/form-data; a=b" },
    });
    expect([bare.status, (await bodyOf(bare)).error.message]).toEqual([400, expect.stringContaining("no boundary")]);
    const headers = { "content-type": "multipart/form-data; boundary=B" };
    const part = '--B\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n';
    for (const body of ["nothing of a form", `${part}half of a fi`, part]) {
      const cut = await fetch(url(), { method: "POST", body, headers });
      expect([cut.status, (await bodyOf(cut)).error.code]).toEqual([400, "bad_request"]);
    }
    expect(await left()).toEqual([]);
  });

  it("leave nothing if the client disconnects in the middle of a file", async () => {
    const socket = await open();
    socket.write(`${HEAD}Content-Length: 100000\r\n\r\n--B\r\n`);
    socket.write('Content-Disposition: form-data; name="f"; filename="f"\r\n\r\nhalf');
    await expect.poll(() => left()).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => left()).toEqual([]);
  });

  it("are refused if the client stalls", async () => {
    limits = { ...limits, stallMs: 50 };
    const socket = await open();
    const response = readToEnd(socket);
    socket.write(`${HEAD}Content-Length: 100000\r\n\r\n--B\r\n`);
    socket.write('Content-Disposition: form-data; name="f"; filename="f"\r\n\r\nhalf');
    expect(await response).toContain("The client sent no form data for");
    expect(await left()).toEqual([]);
  });

  it.runIf(CAN_MOUNT)("return 507 if the disk is full", async () => {
    using disk = new SmallDisk(256 * KIB);
    limits = { ...limits, directory: disk.path };
    const [status, code] = await errorOf(formOf(["f", new Blob([Buffer.alloc(KIB * KIB)]), "f"]));
    expect([status, code]).toEqual([507, "disk_full"]);
    expect(await left()).toEqual([]);
  });
});
