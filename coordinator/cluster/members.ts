import type { Peers } from "./peers.ts";

/** The coordinators of the network, as this one knows them. */
export type Members = Pick<Peers, "self" | "living" | "onChange">;
