import { z } from "zod";
import type { ModelAddress } from "../../../shared/model-address.ts";
import { ask, PinLookupError, readJson, type LookupPolicy } from "./lookup-http.ts";

type HubAddress = Extract<ModelAddress, { kind: "hub" }>;

const DEFAULT_REVISION = "main";
const commitSchema = z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) });

/** The commit that a hub's folder has now. @throws {PinLookupError} */
export async function hubCommit(address: HubAddress, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  const revision = encodeURIComponent(address.revision ?? DEFAULT_REVISION);
  const url = hubUrl(policy, `api/models/${address.repository}/revision/${revision}`);
  const response = await ask(url, { method: "GET" }, policy, signal);
  if (response.status !== 200) throw refusal(url, address, response.status);
  const answer = commitSchema.safeParse(await readJson(response, url.host, signal));
  if (!answer.success) throw new PinLookupError(`${url.host} names no commit of ${address.repository}`);
  return answer.data.sha;
}

/** The SHA-256 of a file of the hub, which has it in a header for large files. @throws {PinLookupError} */
export async function hubFileHash(address: HubAddress, policy: LookupPolicy, signal: AbortSignal): Promise<string> {
  if (address.file === null) {
    throw new PinLookupError(`the address names no file of ${address.repository}, and the hub's choice may change`);
  }
  const file = address.file.split("/").map(encodeURIComponent).join("/");
  const revision = encodeURIComponent(address.revision ?? DEFAULT_REVISION);
  const url = hubUrl(policy, `${address.repository}/resolve/${revision}/${file}`);
  const response = await ask(url, { method: "HEAD" }, policy, signal);
  if (response.status >= 400) throw refusal(url, address, response.status);
  const hash = (response.headers.get("x-linked-etag") ?? "").replace(/^(?:W\/)?"|"$/g, "");
  if (/^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new PinLookupError(`${url.host} names no SHA-256 of ${address.repository}/${address.file}`);
}

function hubUrl({ hub }: LookupPolicy, path: string): URL {
  return new URL(`${hub.replace(/\/+$/, "")}/${path}`);
}

function refusal({ host }: URL, { repository }: HubAddress, status: number): PinLookupError {
  if (status === 404) return new PinLookupError(`${host} has no such file or repository: ${repository}`);
  if (status === 401 || status === 403)
    return new PinLookupError(`${host} does not show ${repository} without a token`);
  return new PinLookupError(`${host} answered ${status} for ${repository}`);
}
