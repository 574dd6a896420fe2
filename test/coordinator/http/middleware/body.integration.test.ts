import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unlessUws } from "../../../support/transport.ts";
import { largeBodyOf } from "../../../../coordinator/http/middleware/body.ts";
import { Api, readToEnd } from "../api.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const VALID = '{"workload":"tiny","input":{"prompt":"Hi"}}';

describe("a JSON body", () => {
  it.each(["", " ", "{", "nope", "{'a':1}", VALID + "x", "\u0000"])("fails with invalid_json for %j", async (body) => {
    for (const path of ["/jobs", "/chat/completions", "/api-keys"]) {
      const response = await api.call("POST", path, { body });
      expect([path, response.status, response.body.error.code]).toEqual([path, 400, "invalid_json"]);
    }
  });

  it("fails with invalid_json when it is missing", async () => {
    const response = await api.call("POST", "/jobs");
    expect([response.status, response.body]).toEqual([
      400,
      { error: { message: "The body is not valid JSON: Unexpected end of JSON input", code: "invalid_json" } },
    ]);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "image/png"])(
    "is accepted as %s",
    async (type) => {
      const response = await api.call("POST", "/jobs", { body: VALID, headers: { "content-type": type } });
      expect(response.status).toBe(201);
    },
  );

  it("is refused when it is nested too deeply", async () => {
    const deep = `{"workload":"words","input":{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}}`;
    const response = await api.call("POST", "/jobs", { body: deep });
    expect([response.status, response.body.error.code]).toEqual([422, "validation_failed"]);
  });

  it.each([
    ["a member that would be lost", '{"a":[{"__proto__":1}]}', "inputs.2.a.0.__proto__", "not allowed"],
    ["a text as input", '"x"', "inputs.2", "expected record"],
    ["an input that is nested too deeply", `{"a":${"[".repeat(98)}${"]".repeat(98)}}`, "", "nested deeper"],
  ])("of a long batch is refused for %s", async (_what, item, path, message) => {
    const long = `{"prompt":"${"x".repeat(100_000)}"}`;
    const response = await api.call("POST", "/jobs/batch", {
      body: `{"workload":"words","inputs":[${long},${long},${item},{}]}`,
    });
    expect([response.status, response.body.error.details]).toEqual([
      422,
      [{ path, message: expect.stringContaining(message) }],
    ]);
  });

  it("that is long and not valid names the position of the error", async () => {
    const body = `{"workload":"words","inputs":[{"prompt":"${"x".repeat(200_000)}"},{"prompt" 1}]}`;
    const { status, body: response } = await api.call("POST", "/jobs/batch", { body });
    expect([status, response.error.code]).toEqual([400, "invalid_json"]);
    expect(response.error.message).toContain(`at position ${body.indexOf(" 1}") + 1}`);
  });

  it("keeps members with the names of Object.prototype", async () => {
    const body = '{"workload":"words","input":{"constructor":1,"toString":2}}';
    expect((await api.call("POST", "/jobs", { body })).status).toBe(201);
    expect(api.jobs.submitted[0]?.input).toEqual({ constructor: 1, toString: 2 });
  });

  it.each([
    ["/jobs", '{"workload":"words","input":{"a":[{"__proto__":1}]}}', "input.a.0.__proto__"],
    ["/jobs/batch", '{"workload":"words","inputs":[{"__proto__":{}}]}', "inputs.0.__proto__"],
    ["/conversations", '{"metadata":{"a":"b","__proto__":"x"}}', "metadata.__proto__"],
    ["/chat/completions", '{"__proto__":null}', "__proto__"],
  ])("of %s is refused for a member that would be lost: %s", async (path, body, field) => {
    const { status, body: response } = await api.call("POST", path, { body });
    expect([status, response.error.details]).toEqual([
      422,
      [{ path: field, message: "is not allowed as a field name" }],
    ]);
  });

  it.each([
    ["/conversations", "{}", 1],
    ["/jobs", VALID, 6],
  ])("of %s with the start %s may have exactly %d MB", async (path, start, megabytes) => {
    const fits = start + " ".repeat(megabytes * 1_048_576 - start.length);
    expect((await api.call("POST", path, { body: fits })).status).toBe(201);
    const response = await api.call("POST", path, { body: `${fits} ` });
    expect([response.status, response.body.error.code]).toEqual([413, "payload_too_large"]);
  });

  it("above 1 MB is refused while 8 such bodies of the account are read", async () => {
    const body = VALID + " ".repeat(1_048_576);
    const taken = Array.from({ length: 8 }, () => largeBodyOf(api.accountId)());
    expect(await api.call("POST", "/jobs", { body })).toMatchObject({ status: 429 });
    for (const release of taken) if (typeof release === "function") release();
    expect((await api.call("POST", "/jobs", { body })).status).toBe(201);
  });

  it(
    ...unlessUws(
      "is read to its end if it is slightly too large, and the connection stays open",
      "takes no request before the response",
    ),
    async () => {
      const size = 1_048_578;
      const head = ["Host: localhost", `Authorization: Bearer ${api.key}`];
      const socket = await api.raw("POST /api/v1/conversations HTTP/1.1", ...head, `Content-Length: ${size}`);
      socket.write(" ".repeat(size / 2));
      // This is longer than what the library reads after a response.
      await sleep(700);
      socket.write(
        " ".repeat(size / 2) + ["GET /api/v1/jobs HTTP/1.1", ...head, "Connection: close", "", ""].join("\r\n"),
      );
      const response = await readToEnd(socket);
      expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
    },
  );

  it("is refused by its announced length before it is read", async () => {
    const socket = await api.raw(
      "POST /api/v1/jobs HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
      "Content-Length: 5000000000",
    );
    const [response] = (await once(socket, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it("is refused even without an announced length, and the connection closes", async () => {
    const socket = await api.raw(
      "POST /api/v1/jobs HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
      "Transfer-Encoding: chunked",
    );
    // The body is endless. It consists of 64 KB chunks for as long as the server accepts them.
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pour).on("error", () => socket.destroy());
    pour();
    const response = await readToEnd(socket);
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toContain('"code":"payload_too_large"');
  });

  it("is not read before the caller is known", async () => {
    const socket = await api.raw("POST /api/v1/jobs HTTP/1.1", "Host: localhost", "Content-Length: 1000");
    const [response] = (await once(socket, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it("costs nothing and logs no error when it is cut off", async () => {
    const socket = await api.raw(
      "POST /api/v1/jobs HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
      "Content-Length: 1000",
    );
    socket.write("{");
    socket.end();
    await readToEnd(socket);
    expect(api.logLines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await api.call("GET", "/jobs")).status).toBe(200);
  });
});
