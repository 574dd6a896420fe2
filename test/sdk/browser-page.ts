import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { requireDebian } from "../support/servers/require-debian.ts";

export const CHROMIUM = "/usr/bin/chromium";

const REPORT = `const post = (path, value) => fetch(new URL(path, location.href), { method: "POST", body: JSON.stringify(value) });
const report = (result) => post("/result", result);
const notify = (progress) => post("/progress", progress);
addEventListener("error", (event) => report(event.message));
addEventListener("unhandledrejection", (event) => report(String(event.reason)));`;

/**
 * Runs `program`, a module that ends with `report(…)`, in headless Chromium. Returns the report, or the text of the
 * error that ended the program. `files` is a folder that is served at the page's origin. `profile` is the directory of
 * the browser's profile. `onProgress` is called with each argument of `notify(…)` in the program.
 */
export async function runInBrowser(
  program: string,
  files: string,
  profile: string,
  onProgress: (progress: unknown) => void = () => undefined,
): Promise<unknown> {
  requireDebian(CHROMIUM, "chromium");
  const page = `<!doctype html><script>${REPORT}</script><script type="module">${program}</script>`;
  const reported = Promise.withResolvers<unknown>();
  const server = createServer((request, response) => {
    if (request.url === "/progress") void takeReport(request, response).then(onProgress, reported.reject);
    else if (request.method === "POST") void takeReport(request, response).then(reported.resolve, reported.reject);
    else if (request.url === "/") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    else void sendFile(join(files, request.url ?? ""), response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, address];
  const browser = spawn(CHROMIUM, flags, { stdio: "ignore" });
  const ended = once(browser, "exit");
  try {
    return await Promise.race([reported.promise, ended.then(([code]) => `Chromium ended with ${String(code)}`)]);
  } finally {
    browser.kill();
    await ended;
    server.close();
    server.closeAllConnections();
  }
}

async function takeReport(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
  response.end();
  return JSON.parse(body) as unknown;
}

async function sendFile(path: string, response: ServerResponse): Promise<void> {
  const file = await readFile(path).catch(() => null);
  if (file === null) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": "text/javascript; charset=utf-8" }).end(file);
}
