import type { IncomingMessage } from "node:http";
import type { HttpOptions } from "./http-deps.ts";

/**
 * IP address of the client, for limits. Behind a trusted proxy it is the last entry of X-Forwarded-For: the one that the proxy
 * wrote itself, where earlier ones are whatever the client sent.
 */
export function clientAddress(incoming: IncomingMessage, { trustProxy }: Pick<HttpOptions, "trustProxy">): string {
  const forwarded = trustProxy ? lastOf(incoming.headers["x-forwarded-for"]) : undefined;
  return forwarded ?? incoming.socket.remoteAddress ?? "unknown";
}

/** Where the client reaches us, without a slash at the end: what the operator said, else what the request itself says. */
export function originOf(incoming: IncomingMessage, options: Pick<HttpOptions, "publicUrl" | "trustProxy">): string {
  if (options.publicUrl !== null) return options.publicUrl.replace(/\/+$/, "");
  const { headers, socket } = incoming;
  const proto = options.trustProxy ? lastOf(headers["x-forwarded-proto"]) : undefined;
  const host = options.trustProxy ? lastOf(headers["x-forwarded-host"]) : undefined;
  const isTls = "encrypted" in socket;
  return `${proto ?? (isTls ? "https" : "http")}://${host ?? headers.host ?? "localhost"}`;
}

function lastOf(header: string | string[] | undefined): string | undefined {
  const last = (Array.isArray(header) ? header.join(",") : header)?.split(",").at(-1)?.trim();
  return last === "" ? undefined : last;
}
