import type { OpenAI } from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { requestParameters } from "../../../../tools/generated/api.ts";

/** Every parameter of the official client, with its visible effect. The type makes the list complete. */
const OFFICIAL: Required<{ [Name in keyof OpenAI.FileCreateParams]: object }> = {
  file: { bytes: 4, filename: "b.txt" },
  purpose: { purpose: "vision" },
  expires_after: { status: "processed" },
};

let api: Api;
beforeAll(async () => {
  api = await Api.open();
});
beforeEach(() => api.clock.advance(60_000));
afterAll(() => api[Symbol.asyncDispose]());

async function post(path: string, fields: Readonly<Record<string, string | Blob>>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "b.txt");
  }
  const headers = { authorization: `Bearer ${api.key}` };
  const response = await fetch(`${api.url}/api/v1${path}`, { method: "POST", body: form, headers });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
  return { status: response.status, body: (await response.json()) as any };
}

describe("parameters of POST /files", () => {
  const file = new Blob(["text"]);
  const life = { "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" };
  const whole = { file, purpose: "vision", ...life };
  const wrong: Readonly<Record<string, readonly [Record<string, string | Blob>, string]>> = {
    file: [{ purpose: "vision", file: "text" }, "file"],
    purpose: [{ file, purpose: "batch_output" }, "purpose"],
    expires_after: [{ ...whole, expires_after: "3600" }, "expires_after"],
    "expires_after[anchor]": [{ ...whole, "expires_after[anchor]": "now" }, "expires_after[anchor]"],
    "expires_after[seconds]": [{ ...whole, "expires_after[seconds]": "3599" }, "expires_after[seconds]"],
  };

  it("include all that the official client sends", () => {
    const names = [...requestParameters().get("POST /files")!.members.keys()];
    expect(new Set(names.map((name) => name.split("[")[0]))).toEqual(new Set(Object.keys(OFFICIAL)));
    expect(Object.keys(wrong)).toEqual(expect.arrayContaining(names));
  });

  it("are supported", async () => {
    const { status, body } = await post("/files", whole);
    for (const shown of Object.values(OFFICIAL)) expect([status, body]).toMatchObject([200, shown]);
    expect(body.expires_at - body.created_at).toBe(3_600);
  });

  it.each(Object.keys(wrong))("%s is refused by name when it is invalid", async (name) => {
    const [fields, path] = wrong[name]!;
    const { status, body } = await post("/files", fields);
    expect([status, body.error.details?.[0]?.path]).toEqual([422, path]);
  });

  it.each(["no_such_field", "expires_after[days]", "file[name]", "__proto__"])("%s is refused", async (name) => {
    const { status, body } = await post("/files", { ...whole, [name]: "1" });
    expect([status, body.error.code]).toEqual([422, "validation_failed"]);
  });
});
