import { Packr, Unpackr } from "msgpackr";
import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../shared/protocol/from-island.ts";

/*
 * The codec of shared/protocol without its checks, so that a load generator costs as little as it can. The frames are the same bytes.
 */

/** As in shared/protocol/codec.ts, which loads all schemas: too much for a server that is to be small. */
export const SESSION_PATH = "/api/v1/island/session";
export const SUBPROTOCOL = "atoll.island.v1";
export const MAX_FRAME_BYTES = 8 * 2 ** 20;

const packr = new Packr({ useRecords: false, mapsAsObjects: true, variableMapSize: true });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });

export const pack = (frame: FromIsland | FromCoordinator): Buffer => packr.pack(frame);
export const unpackFromCoordinator = (raw: Uint8Array): FromCoordinator => unpackr.unpack(raw) as FromCoordinator;
export const unpackFromIsland = (raw: Uint8Array): FromIsland => unpackr.unpack(raw) as FromIsland;

/** Text of the token at `index` of every scripted answer. */
export const tokenAt = (index: number): string => ` w${index % 10}`;

/** The whole answer of a scripted Island. */
export const scriptedText = (tokens: number): string => Array.from({ length: tokens }, (_, i) => tokenAt(i)).join("");

/** CLOCK_MONOTONIC in milliseconds: the same scale in all processes of a machine. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
