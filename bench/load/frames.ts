import { Packr, Unpackr } from "msgpackr";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";

/*
 * The codec of shared/protocol without its checks, so that load generators use little CPU. The frames have the same bytes.
 */

/** This is copied from shared/protocol/codec.ts, because importing that file would load all schemas. */
export const SESSION_PATH = "/api/v1/island/session";
export const SUBPROTOCOL = "atoll.island.v1";
export const MAX_FRAME_BYTES = 8 * 2 ** 20;
/** Default of the coordinator's `heartbeat_s`. */
export const HEARTBEAT_MS = 10_000;

const packr = new Packr({ useRecords: false, mapsAsObjects: true, variableMapSize: true });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });

export const pack = (frame: FromIsland | FromCoordinator): Buffer => packr.pack(frame);
export const unpackFromCoordinator = (raw: Uint8Array): FromCoordinator => unpackr.unpack(raw) as FromCoordinator;
export const unpackFromIsland = (raw: Uint8Array): FromIsland => unpackr.unpack(raw) as FromIsland;

/** Returns the token at `index` of every scripted completion. */
export const tokenAt = (index: number): string => ` w${index % 10}`;

/** Returns the complete text of a scripted Island. */
export const scriptedText = (tokens: number): string => Array.from({ length: tokens }, (_, i) => tokenAt(i)).join("");

/** Returns CLOCK_MONOTONIC in milliseconds, which all processes of a machine share. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
