import { Packr, Unpackr } from "msgpackr";
import type { z } from "zod";
import { MIB } from "../format-bytes.ts";
import { fromCoordinatorSchema, type FromCoordinator } from "./from-coordinator.ts";
import { fromIslandSchema, type FromIsland } from "./from-island.ts";
import { hasTooManyValues } from "./frame-values.ts";
import { asTokenFrame, asTokenFrames } from "./token-frames.ts";

/** WebSocket subprotocol; its version is the protocol's. Source: docs/reference/island-protocol.md. */
export const SUBPROTOCOL = "atoll.island.v1";
/** Path of the Island session's WebSocket. */
export const SESSION_PATH = "/api/v1/island/session";
/** Maximum size of a frame. A larger frame closes the session with 1009. */
export const MAX_FRAME_BYTES = 8 * MIB;

/**
 * Number of silent heartbeat intervals after which a side is lost. Two heartbeats may be missed; the half interval
 * allows for delay.
 */
export const SILENCE_IN_HEARTBEATS = 2.5;

/** WebSocket close codes that both sides use. Source: RFC 6455 §7.4.1 and docs/reference/island-protocol.md. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  policyViolation: 1008,
  tooBig: 1009,
  internalError: 1011,
} as const;

/** Error for a frame that is not MessagePack, of an unknown type, or with an invalid field, which the message names. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

// The records extension is off, so that MessagePack libraries of any language can read the frames.
const packr = new Packr({ useRecords: false, mapsAsObjects: true, variableMapSize: true, encodeUndefinedAsNil: false });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });

export function encodeFrame(frame: FromIsland | FromCoordinator): Buffer {
  return packr.pack(withoutUndefined(frame));
}

/** @throws {ProtocolError} */
export function readFromIsland(raw: Uint8Array): FromIsland {
  const value = unpack(raw);
  return asTokenFrame(value) ?? asTokenFrames(value) ?? check(fromIslandSchema, value);
}

/** @throws {ProtocolError} */
export function readFromCoordinator(raw: Uint8Array): FromCoordinator {
  return check(fromCoordinatorSchema, unpack(raw));
}

function unpack(raw: Uint8Array): unknown {
  if (hasTooManyValues(raw)) throw new ProtocolError("frame contains too many values");
  try {
    return unpackr.unpack(raw);
  } catch (cause) {
    throw new ProtocolError("frame must be MessagePack", { cause });
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = parseSafely(schema, value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path.join(".") ?? "";
  throw new ProtocolError(`${path === "" ? "frame" : path}: ${issue?.message ?? "invalid"}`);
}

/** Reports an error inside the check as an invalid frame, so that it does not end the process. */
function parseSafely<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    throw new ProtocolError("frame cannot be checked", { cause });
  }
}

/** Omits undefined fields, because MessagePack has no `undefined`. */
function withoutUndefined<T extends object>(frame: T): T {
  if (!Object.values(frame).includes(undefined)) return frame;
  return Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== undefined)) as T;
}
